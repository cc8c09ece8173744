"""Who is to be forgotten (a tombstone each), what is kept of them by now, and the proof of what went."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, case, exists, func, or_, select, update

from monitor.store import codec
from monitor.store.deletion import AT_ONCE
from monitor.store.dialect import insert, insert_absent
from monitor.store.schema import cases, erasures, findings, incidents, tombstones
from monitor.store.standing import Standing, standing_of


@dataclass(frozen=True, slots=True)
class Burial:
    """A subject to forget. ``kind``: conversation or user."""

    pseudonym: str
    kind: str
    at: datetime
    until: datetime
    actor: str


def bury(connection: Connection, burial: Burial) -> str:
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


def stones_over(now: datetime) -> ColumnElement[bool]:
    """Those whose time is over and who are forgotten."""
    undone = select(erasures.c.id).where(erasures.c.done_at.is_(None))
    return (tombstones.c.until < now) & tombstones.c.erasure.not_in(undone)


def kept(connection: Connection, after: str, limit: int) -> list[str]:
    own, _ = _standing_of_stone()
    stone, talk = tombstones.c.pseudonym, cases.c.conversation
    theirs = cases.c.person.in_(select(stone))
    found = {
        *connection.scalars(select(stone).where(stone > after, own).order_by(stone).limit(limit)),
        *connection.scalars(select(talk).where(talk > after, theirs).order_by(talk).limit(limit)),
    }
    return sorted(found)[:limit]


def page(connection: Connection, after: str) -> list[Standing]:
    """Each under the erasure that it still stands in the way of."""
    names = kept(connection, after, AT_ONCE)
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


def shown_empty(connection: Connection) -> list[str]:
    stands = select(tombstones.c.erasure).where(or_(*_standing_of_stone()))
    query = select(erasures.c.id).where(
        erasures.c.done_at.is_(None),
        erasures.c.id.in_(select(tombstones.c.erasure)),
        erasures.c.id.not_in(stands),
    )
    return list(connection.scalars(query))


def prove(connection: Connection, erasure: str, rows: Mapping[str, int]) -> None:
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


def until_of(connection: Connection, erasure_ids: Collection[str]) -> dict[str, datetime]:
    query = (
        select(tombstones.c.erasure, func.max(tombstones.c.until).label("until"))
        .where(tombstones.c.erasure.in_(sorted(erasure_ids)))
        .group_by(tombstones.c.erasure)
    )
    return {row.erasure: row.until for row in connection.execute(query)} if erasure_ids else {}


def mark(connection: Connection, conversation: str, erasure: str, until: Mapping[str, datetime]) -> None:
    """A user's conversation has a stone of its own: workers know it by that, and events that name no user go, too."""
    if erasure in until:
        stone = {"pseudonym": conversation, "erasure": erasure, "until": until[erasure]}
        connection.execute(insert_absent(connection, tombstones), [stone])


def _standing_of_stone() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Whether a stone's own conversation is still known, and whether a conversation of that person is.

    Asked stone by stone, through an index: there may be any number of them, and far more conversations.
    """
    own = [
        exists().where(table.c.conversation == tombstones.c.pseudonym).correlate(tombstones)
        for table in (cases, incidents, findings)
    ]
    return or_(*own), exists().where(cases.c.person == tombstones.c.pseudonym).correlate(tombstones)
