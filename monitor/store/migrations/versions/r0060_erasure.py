"""Whose conversation it is and when it was last heard of; who was erased, and the proof of it.

Revision ID: 0060
Revises: 0020
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cases", sa.Column("person", sa.Text()))
    op.add_column("cases", sa.Column("touched_at", sa.BigInteger()))
    condition = "person IS NOT NULL"
    op.create_index(
        "ix_cases_person",
        "cases",
        ["person"],
        sqlite_where=sa.text(condition),
        postgresql_where=sa.text(condition),
    )
    op.create_index("ix_cases_touched_at", "cases", ["touched_at"])
    op.create_index("ix_incidents_conversation", "incidents", ["conversation"])
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_table(
        "erasures",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("done_at", sa.BigInteger()),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_table(
        "tombstones",
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("erasure", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("pseudonym", name="pk_tombstones"),
    )


def downgrade() -> None:
    op.drop_table("tombstones")
    op.drop_table("erasures")
    op.drop_index("ix_audit_at", "audit")
    op.drop_index("ix_incidents_conversation", "incidents")
    op.drop_index("ix_cases_touched_at", "cases")
    op.drop_index("ix_cases_person", "cases")
    op.drop_column("cases", "touched_at")
    op.drop_column("cases", "person")
