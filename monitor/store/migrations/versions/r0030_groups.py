"""Groups that tell of many incidents at once, the paces of channels, and who told of a row.

Revision ID: 0030
Revises: 0060
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("outbox", sa.Column("told_by", sa.Text()))
    _partial_index("ix_outbox_told_by", "outbox", ["told_by", "incident"], "told_by IS NOT NULL")
    op.create_table(
        "groups",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("ringing", sa.Boolean(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_groups"),
    )
    op.create_index("ix_groups_scope", "groups", ["scope", "opened_at"])
    _partial_index("ix_groups_due", "groups", ["due_at"], "due_at IS NOT NULL")
    op.create_table(
        "paces",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("full_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_paces"),
    )


def downgrade() -> None:
    op.drop_table("paces")
    op.drop_table("groups")
    op.drop_index("ix_outbox_told_by", "outbox")
    op.drop_column("outbox", "told_by")


def _partial_index(name: str, table: str, columns: list[str], condition: str) -> None:
    op.create_index(
        name, table, columns, sqlite_where=sa.text(condition), postgresql_where=sa.text(condition)
    )
