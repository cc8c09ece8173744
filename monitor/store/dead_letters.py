"""Dead letters: records that could not be read, sealed for their row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, or_, select

from monitor.crypto.keyring import Keyring
from monitor.store.dialect import insert_absent
from monitor.store.schema import dead_letters
from monitor.store.work import DeadLetter


def rows_of(written: Sequence[DeadLetter], keyring: Keyring) -> list[dict[str, Any]]:
    return [
        {
            "topic": row.partition[0],
            "number": row.partition[1],
            "position": row.offset,
            "reason": row.reason,
            "at": row.at,
            "sealed": keyring.seal(row.payload, place(row.partition, row.offset)),
            "sealed_with": keyring.newest,
        }
        for row in sorted(written, key=lambda row: (row.partition, row.offset))
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(insert_absent(connection, dead_letters), rows)


def expire(connection: Connection, before: datetime) -> int:
    return (connection.execute(delete(dead_letters).where(dead_letters.c.at < before))).rowcount


def place(partition: tuple[str, int], offset: int) -> str:
    """Where a payload belongs; it opens nowhere else."""
    return f"dead_letter:{partition[0]}:{partition[1]}:{offset}"


def page(connection: Connection, after: tuple[str, int, int], limit: int) -> Sequence[Any]:
    """The next ones after a place (topic, number, position), in order."""
    key = dead_letters.c
    query = (
        select(dead_letters)
        .where(
            or_(
                key.topic > after[0],
                (key.topic == after[0]) & (key.number > after[1]),
                (key.topic == after[0]) & (key.number == after[1]) & (key.position > after[2]),
            )
        )
        .order_by(key.topic, key.number, key.position)
        .limit(limit)
    )
    return connection.execute(query).all()


def delete_at(connection: Connection, places: Iterable[tuple[str, int, int]]) -> int:
    key = dead_letters.c
    return sum(
        connection.execute(
            delete(dead_letters).where(key.topic == topic, key.number == number, key.position == position)
        ).rowcount
        for topic, number, position in places
    )
