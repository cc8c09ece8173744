"""Tallies on SQLite and PostgreSQL. All that the elected worker writes is fenced by its term, in the same transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, delete, func, select, tuple_, update

from monitor.store.database import Database
from monitor.store.dialect import insert, insert_absent
from monitor.store.schema import publisher, tally_hours, tally_queue
from monitor.store.types import writable
from monitor.tally.cell import Cell, Tally, Where
from monitor.tally.codec import cell_of_json, cell_to_json, tally_to_json
from monitor.tally.election import Lease
from monitor.tally.hours import Hour, Pairs, Place

_log = structlog.get_logger(__name__)

AT_ONCE = 100  # rows of one statement
_QUEUE = tally_queue.insert().inline()  # nobody asks for the id
_KEY = [tally_hours.c[name] for name in ("hour", *Where._fields)]


def rows_of(tally: Tally | None) -> list[dict[str, Any]]:
    """Encoded before the transaction begins."""
    return [{"at": tally.hour, "body": writable(tally_to_json(tally))}] if tally else []


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(_QUEUE, rows[0])  # one at most; alone it is a round trip less than a list of one


def expire(connection: Connection, before: datetime) -> None:
    """What nobody has added up for so long. It names nobody, but styles of replies are not kept for ever either."""
    connection.execute(delete(tally_queue).where(tally_queue.c.at < before))


class SqlTallies:
    """Implements ``Tallies``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease(self) -> Lease | None:
        return await self._database.read(_lease)

    async def elect(self, seen: Lease | None, to: Lease) -> bool:
        return await self._database.write(lambda c: _elect(c, seen, to))

    async def waiting(self) -> int:
        count = select(func.count()).select_from(tally_queue)
        return await self._database.read(lambda c: c.scalar(count) or 0)

    async def take(self, limit: int) -> Sequence[tuple[int, str]]:
        oldest = select(tally_queue.c.id, tally_queue.c.body).order_by(tally_queue.c.id).limit(limit)
        return await self._database.read(lambda c: [(row.id, row.body) for row in c.execute(oldest)])

    async def pairs(self, hours: Collection[datetime]) -> Pairs:
        t = tally_hours.c
        query = select(t.hour, t.track, t.release).where(t.hour.in_(hours)).distinct()
        found = await self._database.read(lambda c: c.execute(query).all())
        known: dict[datetime, set[tuple[str, str]]] = {hour: set() for hour in hours}
        for row in found:
            known[row.hour].add((row.track, row.release))
        return known

    async def hours(self, places: Collection[Place]) -> Mapping[Place, Hour]:
        found: dict[Place, Hour] = {}
        wanted = sorted(places)
        for start in range(0, len(wanted), AT_ONCE):
            keys = [(place.hour, *place.where) for place in wanted[start : start + AT_ONCE]]
            query = select(tally_hours).where(tuple_(*_KEY).in_(keys))
            rows = await self._database.read(lambda c, query=query: c.execute(query).all())  # type: ignore[misc]
            found |= await asyncio.to_thread(_hours, rows)
        return found

    async def fold(self, term: int, ids: Collection[int], rows: Mapping[Place, Hour]) -> bool:
        written = await asyncio.to_thread(_written, rows)
        return await self._database.write(lambda c: _fold(c, term, list(ids), written))

    async def since(self, hour: datetime) -> Sequence[tuple[Place, Cell]]:
        """Hour by hour, and read in a thread: so many rows at once would hold up the loop."""
        known = select(tally_hours.c.hour).where(tally_hours.c.hour >= hour).distinct()
        found: list[tuple[Place, Cell]] = []
        for one in await self._database.read(lambda c: sorted(c.scalars(known))):
            query = select(*_KEY, tally_hours.c.body).where(tally_hours.c.hour == one)
            rows = await self._database.read(lambda c, query=query: c.execute(query).all())  # type: ignore[misc]
            found += await asyncio.to_thread(_cells, rows)
        return found

    async def sketched(self, since: datetime) -> Sequence[Place]:
        held = (tally_hours.c.hour >= since) & tally_hours.c.style.is_not(None)
        query = select(*_KEY).where(held)
        return [_place(row) for row in await self._database.read(lambda c: c.execute(query).all())]

    async def between(
        self, track: str, release: str, since: datetime, until: datetime
    ) -> Sequence[tuple[Place, Hour]]:
        t = tally_hours.c
        mine = (t.track == track) & (t.release == release) & (t.hour >= since) & (t.hour < until)
        query = select(tally_hours).where(mine).order_by(*_KEY)
        rows = await self._database.read(lambda c: c.execute(query).all())
        return list(_hours(rows).items())

    async def drop(self, before: datetime) -> int:
        old = delete(tally_hours).where(tally_hours.c.hour < before)
        return await self._database.write(lambda c: c.execute(old).rowcount)


def _lease(connection: Connection) -> Lease | None:
    row = connection.execute(select(publisher).where(publisher.c.id == 1)).one_or_none()
    return None if row is None else Lease(row.term, row.holder, row.until)


def _elect(connection: Connection, seen: Lease | None, to: Lease) -> bool:
    values = {"term": to.term, "holder": to.holder, "until": to.until}
    p = publisher.c
    if seen is None:
        made = insert_absent(connection, publisher).values(id=1, **values).returning(p.id)
        return connection.scalar(made) is not None
    unchanged = (p.id == 1) & (p.term == seen.term) & (p.holder == seen.holder) & (p.until == seen.until)
    return connection.scalar(update(publisher).where(unchanged).values(**values).returning(p.id)) is not None


def _elected(connection: Connection, term: int) -> bool:
    """Holds the lease's row until the transaction ends: meanwhile nobody else is elected."""
    query = select(publisher.c.term).where(publisher.c.id == 1).with_for_update()
    return connection.scalar(query) == term


def _fold(connection: Connection, term: int, ids: list[int], rows: list[dict[str, Any]]) -> bool:
    if not _elected(connection, term):
        return False
    there = connection.scalar(select(func.count()).select_from(tally_queue).where(tally_queue.c.id.in_(ids)))
    if there != len(ids):
        return False
    connection.execute(delete(tally_queue).where(tally_queue.c.id.in_(ids)))
    if rows:
        put = insert(connection, tally_hours)
        put = put.on_conflict_do_update(
            index_elements=_KEY, set_={"body": put.excluded.body, "style": put.excluded.style}
        )
        connection.execute(put, rows)
    return True


def _written(rows: Mapping[Place, Hour]) -> list[dict[str, Any]]:
    return [
        {
            "hour": place.hour,
            **place.where._asdict(),
            "body": cell_to_json(hour.cell),
            "style": hour.style,
        }
        for place, hour in sorted(rows.items(), key=lambda one: one[0])
    ]


def _hours(rows: Sequence[Any]) -> dict[Place, Hour]:
    cells = {_place(row): (_cell(row), row.style) for row in rows}
    return {
        place: Hour(Cell() if cell is None else cell, style, unread=cell is None)
        for place, (cell, style) in cells.items()
    }


def _cells(rows: Sequence[Any]) -> list[tuple[Place, Cell]]:
    return [(_place(row), cell) for row in rows if (cell := _cell(row)) is not None]


def _cell(row: Any) -> Cell | None:
    """None for damage: one hour that cannot be read takes no other with it, nor what is still to be added up."""
    try:
        return cell_of_json(row.body)
    except ValueError:
        _log.error("hour_unreadable", hour=row.hour.isoformat())
        return None


def _place(row: Any) -> Place:
    return Place(row.hour, Where(*(getattr(row, name) for name in Where._fields)))
