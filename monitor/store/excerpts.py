"""Excerpts: the words an incident needs, sealed for their row and kept for a limited time (M7)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from monitor.crypto.keyring import Keyring
from monitor.errors import KeyMissing
from monitor.store.dialect import insert_absent
from monitor.store.schema import excerpts
from monitor.store.work import Excerpt


def rows_of(written: Sequence[Excerpt], keyring: Keyring) -> list[dict[str, Any]]:
    return [
        {
            "incident": row.incident,
            "event": row.event,
            "role": row.role,
            "at": row.at,
            "sealed": keyring.seal(row.text.encode("utf-8", "surrogatepass"), place(row.incident, row.event)),
            "sealed_with": keyring.newest,
        }
        for row in sorted(written, key=lambda row: (row.incident, row.event))
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(insert_absent(connection, excerpts), rows)


def read(connection: Connection, incident: str, keyring: Keyring) -> list[Excerpt]:
    """In order. Raise KeyMissing if none can be opened; one alone keeps nobody from the others."""
    query = select(excerpts).where(excerpts.c.incident == incident).order_by(excerpts.c.at, excerpts.c.event)
    found = [_opened(row, keyring) for row in connection.execute(query)]
    if found and all(one.closed for one in found):
        raise KeyMissing(found[-1].closed)
    return found


def _opened(row: Any, keyring: Keyring) -> Excerpt:
    try:
        plain = keyring.open(row.sealed, place(row.incident, row.event))
    except KeyMissing as error:
        return Excerpt(row.incident, row.event, row.role, row.at, "", closed=str(error))
    return Excerpt(row.incident, row.event, row.role, row.at, plain.decode("utf-8", "surrogatepass"))


def purge(connection: Connection, incidents: Sequence[str]) -> None:
    connection.execute(delete(excerpts).where(excerpts.c.incident.in_(sorted(set(incidents)))))


def expire(connection: Connection, before: datetime) -> int:
    return (connection.execute(delete(excerpts).where(excerpts.c.at < before))).rowcount


def place(incident: str, event: str) -> str:
    """Where words belong; they open nowhere else."""
    return f"excerpt:{incident}:{event}"
