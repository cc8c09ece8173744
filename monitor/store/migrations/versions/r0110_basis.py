"""Whose replies the style of a baseline is of: people's or scripts'.

Revision ID: 0110
Revises: 0100
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0110"
down_revision = "0100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("baselines", sa.Column("basis", sa.Text()))


def downgrade() -> None:
    op.drop_column("baselines", "basis")
