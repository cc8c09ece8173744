"""Deleting all that is kept of a conversation: of those who are buried (``burials``), or old (``ageing``). Each step is one bounded transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update

from alerts.case import incident_key
from monitor.crypto.keyring import Keyring
from monitor.errors import KeyMissing
from monitor.store import ageing, burials
from monitor.store import cases as case_rows
from monitor.store import dead_letters as letters
from monitor.store.burials import Burial
from monitor.store.database import Database
from monitor.store.deletion import AT_ONCE, BY_INCIDENT, NAMES, Gone, delete_of
from monitor.store.incidents import Place
from monitor.store.schema import cases, erasures, excerpts, findings, incidents, tombstones
from monitor.store.standing import Standing, standing_of


class Erasing:
    """Errors are the store's."""

    def __init__(self, database: Database, keyring: Keyring) -> None:
        self._database = database
        self._keyring = keyring

    async def bury(self, subjects: Sequence[Burial]) -> list[str]:
        """Write down who is to be forgotten; return an id for each, which says nothing of the subject.

        Somebody who is being forgotten already keeps the id that stands: it is done once nothing is left.
        """
        ids: list[str] = []
        for start in range(0, len(subjects), NAMES):
            some = subjects[start : start + NAMES]
            ids += await self._database.write(lambda c, some=some: [burials.bury(c, one) for one in some])  # type: ignore[misc]
        return ids

    async def stones(self, now: datetime) -> list[str]:
        """Whoever is to be forgotten. Those whose time is over are let go of once they are forgotten."""
        over = burials.stones_over(now)
        any_over = select(tombstones.c.pseudonym).where(over).limit(1)
        if await self._database.read(lambda c: c.scalar(any_over)) is not None:
            await self._database.write(lambda c: c.execute(delete(tombstones).where(over)))
        return await self._database.read(lambda c: list(c.scalars(select(tombstones.c.pseudonym))))

    async def page(self, after: str = "") -> list[Standing]:
        """What is kept of them by now, in the order of the conversations' keys, some at a time."""
        return await self._database.read(lambda c: burials.page(c, after))

    async def left(self) -> set[str]:
        """The conversations of all of them that something is kept of."""
        found: set[str] = set()
        after = ""
        while some := await self._database.read(lambda c, after=after: burials.kept(c, after, NAMES)):  # type: ignore[misc]
            found.update(some)
            after = some[-1]
        return found

    async def old(self, before: datetime, now: datetime, passed: int = 0) -> list[Standing]:
        """Conversations that nobody was heard in since ``before`` and that wait for nothing, some at a time.

        ``passed`` of them stay for now and are passed over. Canaries have a sweeper of their own.
        """
        if await self._database.read(lambda c: c.scalar(ageing.UNDATED)) is not None:
            await self._database.write(lambda c: ageing.date(c, now))
        query = ageing.quiet(before, passed)
        return await self._database.read(lambda c: standing_of(c, dict.fromkeys(c.scalars(query))))

    async def erase(self, standing: Sequence[Standing]) -> Gone:
        """Delete everything of these conversations, readable or not.

        One that was written since it was looked at stays, and comes again in the next round.
        """
        return await self._database.write(lambda c: _erase(c, standing))

    async def erase_words(self, standing: Sequence[Standing]) -> Counter[str]:
        """Delete the words alone: those of their incidents, and those of streamed messages.

        A message that streams just now is judged first: without its beginning its end might sound harmless.
        """
        keys = sorted({key for one in standing for key in _keys(one)})
        still = {
            one.conversation: one.case.version
            for one in standing
            if one.case is not None and not one.case.conversation.streams
        }

        def transaction(connection: Connection) -> Counter[str]:
            pieces = case_rows.erase_pieces(connection, still)
            return Counter({"excerpts": delete_of(connection, excerpts.c.incident, keys), "cases": pieces})

        return await self._database.write(transaction)

    async def finish(self, now: datetime) -> None:
        """Write down as done every erasure that the tables themselves show nothing of."""
        ids = await self._database.read(burials.shown_empty)
        for start in range(0, len(ids), NAMES):
            some = erasures.c.id.in_(ids[start : start + NAMES])
            done = update(erasures).where(some, erasures.c.done_at.is_(None)).values(done_at=now)
            await self._database.write(lambda c, done=done: c.execute(done))  # type: ignore[misc]

    async def oldest(self) -> datetime | None:
        """When the oldest erasure that is not done was asked for."""
        query = select(func.min(erasures.c.at)).where(erasures.c.done_at.is_(None))
        return await self._database.read(lambda c: c.scalar(query))

    async def age(self, before: datetime, after: Place | None = None) -> tuple[Gone, Place | None]:
        """Delete closed incidents older than ``before`` of conversations that live on, some at a time.

        Return the place reached among them as well, from which to go on; None at their end.
        """
        return await self._database.write(lambda c: ageing.age(c, before, after))

    async def age_rest(self, before: datetime) -> Counter[str]:
        """Delete what is older than ``before`` and hangs on no incident, some at a time."""
        return await self._database.write(lambda c: ageing.age_rest(c, before))

    async def dead_letters(self, names: Callable[[bytes], bool]) -> tuple[int, int]:
        """Delete dead letters whose payload ``names`` a subject; return how many, and how many could not be opened."""
        gone = closed = 0
        after: tuple[str, int, int] = ("", 0, -1)
        while rows := await self._database.read(lambda c, after=after: letters.page(c, after, AT_ONCE)):  # type: ignore[misc]
            after = (rows[-1].topic, rows[-1].number, rows[-1].position)
            hit = []
            for row in rows:
                place = letters.place((row.topic, row.number), row.position)
                try:
                    if names(self._keyring.open(row.sealed, place)):
                        hit.append((row.topic, row.number, row.position))
                except KeyMissing:
                    closed += 1
            if hit:
                gone += await self._database.write(lambda c, hit=hit: letters.delete_at(c, hit))  # type: ignore[misc]
        return gone, closed

    async def scrub(self) -> None:
        """On SQLite: what was deleted is overwritten in the file already; take it out of the write-ahead log, too."""
        await self._database.scrub()


def _erase(connection: Connection, standing: Sequence[Standing]) -> Gone:
    query = (
        select(cases.c.conversation, cases.c.version)
        .where(cases.c.conversation.in_(sorted(one.conversation for one in standing)))
        .order_by(cases.c.conversation)
        .with_for_update()
    )
    held = {row.conversation: row.version for row in connection.execute(query)}
    until = burials.until_of(connection, {one.erasure for one in standing if one.erasure is not None})
    counts: Counter[str] = Counter()
    unreadable = 0
    for one in standing:
        if held.get(one.conversation, 0) != (one.case.version if one.case else 0):
            continue
        mine: Counter[str] = Counter()
        keys = _keys(one)
        mine["cases"] = delete_of(connection, cases.c.conversation, [one.conversation])
        mine["incidents"] = delete_of(connection, incidents.c.conversation, [one.conversation])
        mine["findings"] = delete_of(connection, findings.c.conversation, [one.conversation])
        for column in BY_INCIDENT:
            mine[str(column.table.name)] = delete_of(connection, column, keys)
        if one.erasure is not None:
            burials.prove(connection, one.erasure, mine)
            burials.mark(connection, one.conversation, one.erasure, until)
        counts += mine
        unreadable += one.unreadable
    return Gone(counts, unreadable)


def _keys(one: Standing) -> list[str]:
    """Every incident of a conversation, those included whose row is gone."""
    last = max((incident.ordinal for incident in one.incidents), default=0)
    made = {incident_key(one.conversation, ordinal) for ordinal in range(1, last + 1)}
    return sorted(made | {incident.key for incident in one.incidents})
