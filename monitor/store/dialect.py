"""The few statements that SQLAlchemy spells differently for the two databases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: Table) -> Any:
    """An insert that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``, the same on both."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def insert_absent(connection: Connection, table: Table) -> Any:
    """Insert rows unless their primary key is there already."""
    return insert(connection, table).on_conflict_do_nothing(index_elements=list(table.primary_key.columns))
