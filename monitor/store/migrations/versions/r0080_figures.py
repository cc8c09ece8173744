"""Figures of all workers: what batches add, the hours it is added up in, and who does that.

Revision ID: 0080
Revises: 0070
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0080"
down_revision = "0070"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tally_queue",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tally_queue"),
    )
    op.create_table(
        "tally_hours",
        sa.Column("hour", sa.BigInteger(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("lang", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("style", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("hour", "track", "release", "lang", "state", "basis", name="pk_tally_hours"),
    )
    op.create_table(
        "publisher",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_publisher"),
    )


def downgrade() -> None:
    op.drop_table("publisher")
    op.drop_table("tally_hours")
    op.drop_table("tally_queue")
