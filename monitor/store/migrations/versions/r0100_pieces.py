"""Which cases still hold words of streamed messages.

Revision ID: 0100
Revises: 0090
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = "0090"
branch_labels = None
depends_on = None


def upgrade() -> None:
    condition = "sealed IS NOT NULL"
    op.create_index(
        "ix_cases_sealed",
        "cases",
        ["touched_at"],
        sqlite_where=sa.text(condition),
        postgresql_where=sa.text(condition),
    )


def downgrade() -> None:
    op.drop_index("ix_cases_sealed", "cases")
