"""Does a write stand? A full disk answers every question and takes nothing."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from monitor.store.dialect import insert
from monitor.store.schema import probe


def write(connection: Connection, now: datetime) -> None:
    """The value differs each time: one that stands there already would not reach the disk."""
    statement = insert(connection, probe).values(id=1, at=now)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[probe.c.id], set_={"at": statement.excluded.at})
    )
