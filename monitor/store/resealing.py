"""Sealing everything anew with the newest key, some rows at a time, while workers write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, select, tuple_, update
from sqlalchemy.sql.elements import ColumnElement

from monitor.crypto.keyring import Keyring, key_of
from monitor.errors import KeyMissing
from monitor.store import dead_letters as letters
from monitor.store import excerpts as words
from monitor.store import streaming
from monitor.store.database import Database
from monitor.store.schema import cases, dead_letters, excerpts

AT_ONCE = 25  # rows of one transaction, which is over long before the store's time limit


@dataclass(frozen=True, slots=True)
class Resealed:
    """``closed``: rows whose key is not in the keyring. They were left as they are."""

    anew: int = 0
    closed: int = 0


class Resealing:
    """Broken off, it goes on where it was: what is sealed with the newest key is passed over."""

    def __init__(self, database: Database, keyring: Keyring) -> None:
        self._database = database
        self._keyring = keyring

    async def run(self) -> Resealed:
        """Go through everything once."""
        anew = closed = 0
        for table in (excerpts, dead_letters, cases):
            after: tuple[Any, ...] | None = None
            while True:
                rows = await self._read(table, after)
                if not rows:
                    break
                after = tuple(getattr(rows[-1], column.name) for column in table.primary_key)
                done, shut = await self._database.write(
                    lambda c, table=table, rows=rows: _reseal(c, table, rows, self._keyring)  # type: ignore[misc]
                )
                anew, closed = anew + done, closed + shut
        return Resealed(anew, closed)

    async def left(self) -> int:
        """How many rows are sealed with another than the newest key."""
        newest = self._keyring.newest

        def count(connection: Connection) -> int:
            found = 0
            for table in (excerpts, dead_letters):
                query = select(func.count()).select_from(table).where(table.c.sealed_with != newest)
                found += connection.scalar(query) or 0
            return found + sum(_id(blob) != newest for blob in connection.scalars(_heads()))

        return await self._database.read(count)

    async def _read(self, table: Table, after: tuple[Any, ...] | None) -> list[Any]:
        key = list(table.primary_key)
        query = select(table).order_by(*key).limit(AT_ONCE)
        if "sealed_with" in table.c:
            query = query.where(table.c.sealed_with != self._keyring.newest)
        else:
            query = query.where(table.c.sealed.is_not(None))
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(*after))
        return await self._database.read(lambda c: list(c.execute(query).all()))


def _reseal(connection: Connection, table: Table, rows: Iterable[Any], keyring: Keyring) -> tuple[int, int]:
    anew = closed = 0
    for row in rows:
        if _id(row.sealed) == keyring.newest:
            continue
        place = _place(table, row)
        try:
            blob = keyring.seal(keyring.open(row.sealed, place), place)
        except KeyMissing:
            closed += 1
            continue
        values: dict[str, Any] = {"sealed": blob}
        if "sealed_with" in table.c:
            values["sealed_with"] = keyring.newest
        # A row that was written anew since it was read holds other words: it is left alone.
        same: ColumnElement[bool] = table.c.sealed == row.sealed
        for column in table.primary_key:
            same &= column == getattr(row, column.name)
        anew += connection.execute(update(table).where(same).values(values)).rowcount
    return anew, closed


def _place(table: Table, row: Any) -> str:
    if table is excerpts:
        return words.place(row.incident, row.event)
    if table is dead_letters:
        return letters.place((row.topic, row.number), row.position)
    return streaming.place(row.conversation)


def _heads() -> Any:
    """The first bytes of sealed cases: they name the key."""
    head = func.substr(cases.c.sealed, 1, 40, type_=LargeBinary)
    return select(head).where(cases.c.sealed.is_not(None))


def _id(blob: bytes) -> str:
    try:
        return key_of(blob)
    except KeyMissing:
        return ""
