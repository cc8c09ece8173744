"""How far the time that all workers share is from the database's.

Revision ID: 0070
Revises: 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0070"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "common_time",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ahead", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_common_time"),
    )


def downgrade() -> None:
    op.drop_table("common_time")
