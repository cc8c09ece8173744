"""What stands for a group whose record is damaged: as its own pages and those it told of tell. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from alerts.delivery import ADMITTED
from alerts.group import Call, Group, Scope, gravity_of, scope_of
from alerts.page import Kind
from alerts.ports import Notification
from alerts.storm import all_releases

UNKNOWN = "somebody unknown (its record was damaged)"


@dataclass(frozen=True, slots=True)
class Remains:
    """What stands beside the record.

    ``rows``: its own of the outbox, but for those that cannot be read either (not ``whole``). ``members``: so many
    incidents it told of.
    """

    key: str
    scope: str
    track: str
    ringing: bool
    opened_at: datetime
    look_at: datetime | None
    version: int
    rows: Sequence[Notification] = ()
    whole: bool = True
    members: int = 0


def stand_in(remains: Remains) -> Group:
    """It rings on if it did, so that its button works and nobody is rung for twice; it ends like any other.

    What is not known is read as that which rings once too often. Where its pages do not tell enough of it, nothing
    joins it any more: whoever is in it rings by himself, or in another group.
    """
    pages = [row for row in remains.rows if not row.page.kind.is_update]
    taken = [row.created_at for row in remains.rows if row.page.kind is Kind.ACKNOWLEDGE]
    known = _scope(remains.scope, pages)
    scope = known or (scope_of(pages[0].page) if pages else Scope(Kind.PAGE, remains.track, False, None))
    group = Group(
        key=remains.key,
        scope=scope,
        opened_at=remains.opened_at,
        since=min((row.page.since for row in pages), default=remains.opened_at),
        count=max((remains.members, *(row.page.group for row in pages))),
        # Perhaps it was written down after an absence, and not all are read again of whom it told.
        ashore_at=remains.opened_at,
        look_at=remains.look_at,
        version=remains.version,
        unreadable=True,
    )
    if pages:
        group = _as_it_rang(group, pages)
    if remains.ringing and known is not None and remains.whole:
        return group
    at = min(taken, default=remains.opened_at)
    over = remains.look_at is None
    # Settled: nobody in it is taken for somebody's who may not be.
    return replace(
        group, acknowledged_at=at, acknowledged_by=UNKNOWN, settled=True, ended_at=at if over else None
    )


def _as_it_rang(group: Group, pages: Sequence[Notification]) -> Group:
    gravest = max((row.page for row in pages), key=lambda page: gravity_of(page.level, page.outcome))
    rings = max(_ring(group, row) for row in pages)
    newest = [row for row in pages if _ring(group, row) == rings]
    last = {row.target: row for row in sorted(pages, key=lambda row: (row.created_at, row.page.step))}
    return replace(
        group,
        level=gravest.level,
        outcome=gravest.outcome,
        score=max(row.page.score for row in pages),
        rings=rings,
        ring_at=min(_leaves_at(row) for row in newest),
        told=group.count if any(map(_left, newest)) else 0,
        told_gravity=gravity_of(gravest.level, gravest.outcome),
        calls=tuple(
            Call(target, row.delivery.route, _leaves_at(row), row.page.step)
            for target, row in sorted(last.items())
        ),
    )


def _scope(name: str, pages: Sequence[Notification]) -> Scope | None:
    """The one of that name: a page does not tell whether it is for one release or for all."""
    own = [scope_of(row.page) for row in pages]
    return next((one for scope in own for one in (scope, all_releases(scope)) if one.name == name), None)


def _ring(group: Group, row: Notification) -> int:
    """Its number, from the dedup key (``group.ring_key``)."""
    number = row.page.dedup_key.removeprefix(group.key).removeprefix("-")
    return int(number) if number.isdecimal() else 1


def _left(row: Notification) -> bool:
    delivery = row.delivery
    return delivery.state.final or delivery.attempts > 0 or delivery.reason == ADMITTED


def _leaves_at(row: Notification) -> datetime:
    return row.created_at if _left(row) else row.delivery.next_at or row.created_at
