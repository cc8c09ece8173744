"""Everything the first release keeps.

Revision ID: 0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "positions",
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("next", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "number", name="pk_positions"),
    )
    op.create_table(
        "cases",
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("wake_at", sa.BigInteger()),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("conversation", name="pk_cases"),
    )
    _partial_index("ix_cases_wake_at", "cases", ["wake_at"], "wake_at IS NOT NULL")
    op.create_table(
        "incidents",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("over", sa.Boolean(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_incidents"),
    )
    op.create_index("ix_incidents_opened_at", "incidents", ["opened_at"])
    op.create_index("ix_incidents_release", "incidents", ["release", "opened_at"])
    _partial_index("ix_incidents_open", "incidents", ["opened_at"], "NOT over")
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("incident", sa.Text(), nullable=False),
        sa.Column("calm", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("delivery", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
    )
    _partial_index("ix_outbox_due", "outbox", ["calm", "due_at", "created_at"], "due_at IS NOT NULL")
    _partial_index("ix_outbox_waiting", "outbox", ["created_at"], "due_at IS NOT NULL")
    op.create_index("ix_outbox_incident", "outbox", ["incident"])
    op.create_table(
        "findings",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("incident", sa.Text()),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("score", sa.Float()),
        sa.Column("distress", sa.Float()),
        sa.Column("outcome", sa.Text()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("track", sa.Text(), nullable=False),
        sa.Column("lang", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
    )
    op.create_index("ix_findings_at", "findings", ["at"])
    op.create_index("ix_findings_conversation", "findings", ["conversation"])
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True),
        sa.Column("incident", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_incident", "audit", ["incident", "id"])
    op.create_table(
        "excerpts",
        sa.Column("incident", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_with", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("incident", "event", name="pk_excerpts"),
    )
    op.create_index("ix_excerpts_at", "excerpts", ["at"])
    op.create_table(
        "dead_letters",
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_with", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "number", "position", name="pk_dead_letters"),
    )
    op.create_index("ix_dead_letters_at", "dead_letters", ["at"])


def downgrade() -> None:
    for table in (
        "dead_letters",
        "excerpts",
        "audit",
        "findings",
        "outbox",
        "incidents",
        "cases",
        "positions",
    ):
        op.drop_table(table)


def _partial_index(name: str, table: str, columns: list[str], condition: str) -> None:
    op.create_index(
        name, table, columns, sqlite_where=sa.text(condition), postgresql_where=sa.text(condition)
    )
