"""Deleting all that is kept of a conversation, and finding what is old enough. Each step is one bounded transaction."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    case,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from alerts.canary import CANARIES
from alerts.case import incident_key
from monitor.crypto.keyring import Keyring
from monitor.errors import KeyMissing, RowDamaged, StoreError
from monitor.store import cases as case_rows
from monitor.store import codec
from monitor.store import dead_letters as letters
from monitor.store.database import Database
from monitor.store.dialect import insert, insert_absent
from monitor.store.schema import (
    audit,
    cases,
    dead_letters,
    erasures,
    excerpts,
    findings,
    groups,
    incidents,
    outbox,
    tombstones,
)
from monitor.store.standing import Standing, standing_of

AT_ONCE = 40  # conversations of one transaction, which is over long before the store's time limit
NAMES = 500  # the same of what is only named
_BY_INCIDENT = (outbox.c.incident, audit.c.incident, excerpts.c.incident)


@dataclass(frozen=True, slots=True)
class Gone:
    """How many rows of which table were deleted; ``unreadable`` of them said nothing any more."""

    rows: Counter[str]
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Burial:
    """A subject to forget. ``kind``: conversation or user."""

    pseudonym: str
    kind: str
    at: datetime
    until: datetime
    actor: str


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
            ids += await self._database.write(lambda c, some=some: [_bury(c, one) for one in some])  # type: ignore[misc]
        return ids

    async def stones(self, now: datetime) -> list[str]:
        """Whoever is to be forgotten. Those whose time is over are let go of once they are forgotten."""
        undone = select(erasures.c.id).where(erasures.c.done_at.is_(None))
        over = (tombstones.c.until < now) & tombstones.c.erasure.not_in(undone)
        any_over = select(tombstones.c.pseudonym).where(over).limit(1)
        if await self._database.read(lambda c: c.scalar(any_over)) is not None:
            await self._database.write(lambda c: c.execute(delete(tombstones).where(over)))
        return await self._database.read(lambda c: list(c.scalars(select(tombstones.c.pseudonym))))

    async def page(self, after: str = "") -> list[Standing]:
        """What is kept of them by now, in the order of the conversations' keys, some at a time."""
        return await self._database.read(lambda c: _page(c, after))

    async def left(self) -> set[str]:
        """The conversations of all of them that something is kept of."""
        found: set[str] = set()
        after = ""
        while some := await self._database.read(lambda c, after=after: _kept(c, after, NAMES)):  # type: ignore[misc]
            found.update(some)
            after = some[-1]
        return found

    async def old(self, before: datetime, now: datetime, passed: int = 0) -> list[Standing]:
        """Conversations that nobody was heard in since ``before`` and that wait for nothing, some at a time.

        ``passed`` of them stay for now and are passed over. Canaries have a sweeper of their own.
        """

        def transaction(connection: Connection) -> None:
            fresh = select(cases.c.conversation).where(cases.c.touched_at.is_(None)).limit(AT_ONCE * 5)
            # written by a release that kept no time: its age counts from now
            connection.execute(update(cases).where(cases.c.conversation.in_(fresh)).values(touched_at=now))

        unknown = select(cases.c.conversation).where(cases.c.touched_at.is_(None)).limit(1)
        if await self._database.read(lambda c: c.scalar(unknown)) is not None:
            await self._database.write(transaction)
        query = (
            select(cases.c.conversation)
            .where(
                cases.c.touched_at < before,
                cases.c.wake_at.is_(None),
                not_(cases.c.conversation.startswith(CANARIES)),
            )
            .order_by(cases.c.touched_at, cases.c.conversation)
            .offset(passed)
            .limit(AT_ONCE)
        )
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
            return Counter({"excerpts": _delete(connection, excerpts.c.incident, keys), "cases": pieces})

        return await self._database.write(transaction)

    async def finish(self, now: datetime) -> None:
        """Write down as done every erasure that the tables themselves show nothing of."""
        ids = await self._database.read(_shown_empty)
        for start in range(0, len(ids), NAMES):
            some = erasures.c.id.in_(ids[start : start + NAMES])
            done = update(erasures).where(some, erasures.c.done_at.is_(None)).values(done_at=now)
            await self._database.write(lambda c, done=done: c.execute(done))  # type: ignore[misc]

    async def oldest(self) -> datetime | None:
        """When the oldest erasure that is not done was asked for."""
        query = select(func.min(erasures.c.at)).where(erasures.c.done_at.is_(None))
        return await self._database.read(lambda c: c.scalar(query))

    async def age(self, before: datetime) -> Gone:
        """Delete what is older than ``before`` of conversations that live on, and what belongs to none."""
        return await self._database.write(lambda c: _age(c, before))

    async def dead_letters(self, names: Callable[[bytes], bool]) -> tuple[int, int]:
        """Delete dead letters whose payload ``names`` a subject; return how many, and how many could not be opened."""
        gone = closed = 0
        after: tuple[str, int, int] = ("", 0, -1)
        while rows := await self._letters(after):
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
                gone += await self._database.write(lambda c, hit=hit: _delete_letters(c, hit))  # type: ignore[misc]
        return gone, closed

    async def _letters(self, after: tuple[str, int, int]) -> Sequence[Any]:
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
            .limit(AT_ONCE)
        )
        return await self._database.read(lambda c: c.execute(query).all())

    async def scrub(self) -> None:
        """On SQLite: what was deleted is overwritten in the file already; take it out of the write-ahead log, too."""
        await self._database.scrub()


def _bury(connection: Connection, burial: Burial) -> str:
    erasure = secrets.token_hex(8)
    stone = insert(connection, tombstones).values(
        pseudonym=burial.pseudonym, erasure=erasure, until=burial.until
    )
    done = exists().where(erasures.c.id == tombstones.c.erasure, erasures.c.done_at.is_not(None))
    longer = stone.excluded.until > tombstones.c.until
    stands: str = connection.execute(
        stone.on_conflict_do_update(
            index_elements=[tombstones.c.pseudonym],
            set_={
                "erasure": case((done.correlate(tombstones), erasure), else_=tombstones.c.erasure),
                "until": case((longer, stone.excluded.until), else_=tombstones.c.until),
            },
        ).returning(tombstones.c.erasure)
    ).scalar_one()
    if stands == erasure:
        proof = {"id": erasure, "at": burial.at, "kind": burial.kind, "actor": burial.actor}
        connection.execute(insert(connection, erasures).values(**proof, detail=codec.dumps({"rows": {}})))
    return stands


def _standing_of_stone() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Whether a stone's own conversation is still known, and whether a conversation of that person is.

    Asked stone by stone, through an index: there may be any number of them, and far more conversations.
    """
    own = [
        exists().where(table.c.conversation == tombstones.c.pseudonym).correlate(tombstones)
        for table in (cases, incidents, findings)
    ]
    return or_(*own), exists().where(cases.c.person == tombstones.c.pseudonym).correlate(tombstones)


def _kept(connection: Connection, after: str, limit: int) -> list[str]:
    own, _ = _standing_of_stone()
    stone, talk = tombstones.c.pseudonym, cases.c.conversation
    theirs = cases.c.person.in_(select(stone))
    found = {
        *connection.scalars(select(stone).where(stone > after, own).order_by(stone).limit(limit)),
        *connection.scalars(select(talk).where(talk > after, theirs).order_by(talk).limit(limit)),
    }
    return sorted(found)[:limit]


def _page(connection: Connection, after: str) -> list[Standing]:
    """Each under the erasure that it still stands in the way of."""
    names = _kept(connection, after, AT_ONCE)
    query = select(cases.c.conversation, cases.c.person).where(cases.c.conversation.in_(names))
    person = {row.conversation: row.person for row in connection.execute(query)}
    wanted = {*names, *(one for one in person.values() if one is not None)}
    stones = (
        select(tombstones.c.pseudonym, tombstones.c.erasure, erasures.c.done_at)
        .join(erasures, erasures.c.id == tombstones.c.erasure)
        .where(tombstones.c.pseudonym.in_(sorted(wanted)))
    )
    buried = {row.pseudonym: row for row in connection.execute(stones)}
    erasure: dict[str, str | None] = {}
    for name in names:
        its = [buried[one] for one in (name, person.get(name)) if one in buried]
        its.sort(key=lambda stone: stone.done_at is not None)
        erasure[name] = its[0].erasure if its else None
    return standing_of(connection, erasure)


def _shown_empty(connection: Connection) -> list[str]:
    stands = select(tombstones.c.erasure).where(or_(*_standing_of_stone()))
    query = select(erasures.c.id).where(
        erasures.c.done_at.is_(None),
        erasures.c.id.in_(select(tombstones.c.erasure)),
        erasures.c.id.not_in(stands),
    )
    return list(connection.scalars(query))


def _erase(connection: Connection, standing: Sequence[Standing]) -> Gone:
    query = (
        select(cases.c.conversation, cases.c.version)
        .where(cases.c.conversation.in_(sorted(one.conversation for one in standing)))
        .order_by(cases.c.conversation)
        .with_for_update()
    )
    held = {row.conversation: row.version for row in connection.execute(query)}
    until = _until(connection, {one.erasure for one in standing if one.erasure is not None})
    counts: Counter[str] = Counter()
    unreadable = 0
    for one in standing:
        if held.get(one.conversation, 0) != (one.case.version if one.case else 0):
            continue
        mine: Counter[str] = Counter()
        keys = _keys(one)
        mine["cases"] = _delete(connection, cases.c.conversation, [one.conversation])
        mine["incidents"] = _delete(connection, incidents.c.conversation, [one.conversation])
        mine["findings"] = _delete(connection, findings.c.conversation, [one.conversation])
        for column in _BY_INCIDENT:
            mine[str(column.table.name)] = _delete(connection, column, keys)
        if one.erasure is not None:
            _prove(connection, one.erasure, mine)
            _mark(connection, one.conversation, one.erasure, until)
        counts += mine
        unreadable += one.unreadable
    return Gone(counts, unreadable)


def _prove(connection: Connection, erasure: str, rows: Mapping[str, int]) -> None:
    detail = connection.scalar(select(erasures.c.detail).where(erasures.c.id == erasure).with_for_update())
    found = codec.facts(detail).get("rows")
    before = (
        {name: count for name, count in found.items() if isinstance(count, int)}
        if isinstance(found, dict)
        else {}
    )
    total = dict(Counter(before) + Counter(rows))
    connection.execute(
        update(erasures).where(erasures.c.id == erasure).values(detail=codec.dumps({"rows": total}))
    )


def _until(connection: Connection, erasure_ids: Collection[str]) -> dict[str, datetime]:
    query = (
        select(tombstones.c.erasure, func.max(tombstones.c.until).label("until"))
        .where(tombstones.c.erasure.in_(sorted(erasure_ids)))
        .group_by(tombstones.c.erasure)
    )
    return {row.erasure: row.until for row in connection.execute(query)} if erasure_ids else {}


def _mark(connection: Connection, conversation: str, erasure: str, until: Mapping[str, datetime]) -> None:
    """A user's conversation has a stone of its own: workers know it by that, and events that name no user go, too."""
    if erasure in until:
        stone = {"pseudonym": conversation, "erasure": erasure, "until": until[erasure]}
        connection.execute(insert_absent(connection, tombstones), [stone])


def _keys(one: Standing) -> list[str]:
    """Every incident of a conversation, those included whose row is gone."""
    last = max((incident.ordinal for incident in one.incidents), default=0)
    made = {incident_key(one.conversation, ordinal) for ordinal in range(1, last + 1)}
    return sorted(made | {incident.key for incident in one.incidents})


def _age(connection: Connection, before: datetime) -> Gone:
    counts: Counter[str] = Counter()
    query = (
        select(incidents.c.key, incidents.c.opened_at, incidents.c.body)
        .where(incidents.c.over, incidents.c.opened_at < before)
        .order_by(incidents.c.opened_at)
        .limit(AT_ONCE)
    )
    read = {row.key: _last_crisis(row) for row in connection.execute(query)}
    old = [key for key, (last, _) in read.items() if last is not None and last < before]
    waiting = select(outbox.c.incident).where(outbox.c.incident.in_(old), outbox.c.due_at.is_not(None))
    keys = sorted(set(old) - set(connection.scalars(waiting)))
    counts["incidents"] = _delete(connection, incidents.c.key, keys)
    for column in (*_BY_INCIDENT, findings.c.incident):
        counts[str(column.table.name)] += _delete(connection, column, keys)
    counts["findings"] += _some(connection, findings, findings.c.id, findings.c.at < before)
    apart = not_(exists().where(incidents.c.key == outbox.c.incident))
    told = outbox.c.due_at.is_(None) & (outbox.c.created_at < before)
    counts["outbox"] += _some(connection, outbox, outbox.c.id, told & apart)
    over = groups.c.due_at.is_(None) & (groups.c.opened_at < before)
    counts["groups"] += _some(connection, groups, groups.c.key, over)
    apart = not_(exists().where(incidents.c.key == audit.c.incident))
    counts["audit"] += _some(connection, audit, audit.c.id, (audit.c.at < before) & apart)
    return Gone(counts, sum(not read[key][1] for key in keys))


def _last_crisis(row: Any) -> tuple[datetime | None, bool]:
    """And whether it could be read. A damaged incident goes by when it was opened; one of a later release stays."""
    try:
        return codec.INCIDENTS.decode(row.body).last_crisis_at, True
    except RowDamaged:
        return row.opened_at, False
    except StoreError:
        return None, False


def _some(connection: Connection, table: Table, key: Column[Any], condition: Any) -> int:
    some = select(key).where(condition).limit(AT_ONCE * 5)
    return connection.execute(delete(table).where(key.in_(some))).rowcount


def _delete(connection: Connection, column: Any, values: Iterable[str]) -> int:
    wanted = list(values)
    return connection.execute(delete(column.table).where(column.in_(wanted))).rowcount if wanted else 0


def _delete_letters(connection: Connection, places: Iterable[tuple[str, int, int]]) -> int:
    key = dead_letters.c
    return sum(
        connection.execute(
            delete(dead_letters).where(key.topic == topic, key.number == number, key.position == position)
        ).rowcount
        for topic, number, position in places
    )
