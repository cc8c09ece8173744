"""What of the outbox is done with, by age: retention read all of it in every round.

Revision ID: 0120
Revises: 0110
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0120"
down_revision = "0110"
branch_labels = None
depends_on = None


def upgrade() -> None:
    condition = "due_at IS NULL"
    op.create_index(
        "ix_outbox_done",
        "outbox",
        ["created_at"],
        sqlite_where=sa.text(condition),
        postgresql_where=sa.text(condition),
    )


def downgrade() -> None:
    op.drop_index("ix_outbox_done", "outbox")
