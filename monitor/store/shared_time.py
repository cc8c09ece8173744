"""The one row that says how far the workers' time is from the database server's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select, update

from monitor.store.dialect import insert_absent
from monitor.store.schema import common_time

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Agreed:
    """``ahead``: of the database's time, at ``at`` by the database's clock, when a worker last found it right."""

    ahead: timedelta
    at: datetime


@dataclass(frozen=True, slots=True)
class Told:
    """What the database says: its own time, and what the workers agreed upon, if they did."""

    database: datetime
    agreed: Agreed | None


def read(connection: Connection) -> Told | None:
    """None on SQLite, which is on this machine."""
    if connection.dialect.name == "sqlite":
        return None
    table = common_time.c
    at, ahead, agreed_at = connection.execute(
        select(
            func.clock_timestamp(),
            select(table.ahead).where(table.id == 1).scalar_subquery(),
            select(table.at).where(table.id == 1).scalar_subquery(),
        )
    ).one()
    return Told(at, None if agreed_at is None else Agreed(ahead * _MICROSECOND, agreed_at))


def agree(connection: Connection, before: Agreed | None, after: Agreed) -> bool:
    """Write it if it still is what was read."""
    values = {"ahead": after.ahead // _MICROSECOND, "at": after.at}
    table = common_time.c
    if before is None:
        made = insert_absent(connection, common_time).values(id=1, **values).returning(table.id)
        return connection.scalar(made) is not None
    unchanged = (table.id == 1) & (table.ahead == before.ahead // _MICROSECOND) & (table.at == before.at)
    return (
        connection.scalar(update(common_time).where(unchanged).values(**values).returning(table.id))
        is not None
    )
