"""The group: many incidents of one release that one page tells of, until somebody takes them all in hand.

Each incident stays what it is, with its own state, escalation, audit and link. The group only speaks for them:
it rings again, under another key, when it has grown by a lot or graver, and whenever one of its incidents'
escalations is due.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.delivery import Delivery, State
from alerts.escalation import Links
from alerts.gravity import gravity
from alerts.page import Kind, Page
from alerts.ports import Notification, row_id
from detectors.finding import Level, Outcome

_PREFIX = "jz-group-"
LOOK = timedelta(seconds=30)  # how often a group is asked whether anybody is left in it


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose requests one page may carry. ``release`` is None where the releases are too many to be told apart."""

    kind: Kind
    track: str
    probe: bool
    release: str | None

    @property
    def name(self) -> str:
        """Short, and no word of a producer's in it."""
        told = f"{self.kind.value}\0{self.track}\0{self.probe}\0{self.release!r}"
        return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Call:
    """The last time somebody was rung: ``step`` counts the calls of this target.

    ``reached``: the highest step of an incident's own escalation that called them.
    """

    target: str
    route: tuple[str, ...]
    at: datetime
    step: int = 0
    reached: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """``count`` incidents; level, outcome and score are the gravest of theirs.

    ``rings``: keys that were used. ``told`` is the size when a page last left: 0 while one waits to leave.
    ``settled``: everybody in it was acknowledged after somebody acknowledged the group.
    ``ashore_at``: when it was written down after an absence of the database, without whoever it tells of: they
    are read again after that.
    ``unreadable``: its record is damaged, and this is what stands for it (``lost_group``) until it is written.
    ``version`` guards against two writers (compare-and-set in the store).
    """

    key: str
    scope: Scope
    opened_at: datetime
    since: datetime
    level: str = Level.NONE.value
    outcome: str = ""
    score: float = 0.0
    count: int = 0
    rings: int = 0
    ring_at: datetime | None = None
    told: int = 0
    told_gravity: int = 0
    calls: tuple[Call, ...] = ()
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    settled: bool = False
    ended_at: datetime | None = None
    look_at: datetime | None = None  # when its keeper looks at it next
    ashore_at: datetime | None = None
    unreadable: bool = False
    version: int = 0

    @property
    def ringing(self) -> bool:
        """Nobody has taken it in hand: it may carry more."""
        return self.acknowledged_at is None and self.ended_at is None

    @property
    def state(self) -> str:
        if self.ended_at is not None:
            return "resolved"
        return "acknowledged" if self.acknowledged_at is not None else "paging"

    @property
    def gravity(self) -> int:
        return gravity_of(self.level, self.outcome)

    def call(self, target: str) -> Call | None:
        return next((call for call in self.calls if call.target == target), None)


def is_group(key: str) -> bool:
    """Tell the key of a group from an incident's."""
    return key.startswith(_PREFIX)


def path_of(key: str) -> str:
    """Under which path the page of a group or an incident is served."""
    return "groups" if is_group(key) else "incidents"


def group_key(scope: Scope, opened_at: datetime) -> str:
    """The same for all who open it in the same second: what each of them sends, a pager folds."""
    return f"{_PREFIX}{scope.name}-{int(opened_at.timestamp())}"


def scope_of(page: Page) -> Scope:
    return Scope(page.kind, page.track, page.probe, page.release)


def gravity_of(level: str, outcome: str) -> int:
    """Of a page's words; one of a later release counts as unknown."""
    known = Level(level) if level in set(Level) else Level.UNSCORED
    return gravity(known, Outcome.HARMFUL if outcome == Outcome.HARMFUL else None)


def joined(group: Group, page: Page, *, new: bool) -> Group:
    """The group with one more request; ``new`` if its incident is not in it yet."""
    graver = gravity_of(page.level, page.outcome) > group.gravity
    return replace(
        group,
        count=group.count + new,
        level=page.level if graver or not group.count else group.level,
        outcome=page.outcome if graver or not group.count else group.outcome,
        score=max(group.score, page.score),
        since=min(group.since, page.since),
    )


def called(group: Group, call: Call) -> Group:
    others = tuple(one for one in group.calls if one.target != call.target)
    return replace(group, calls=(*others, call))


def left(group: Group) -> Group:
    """A page has left, and says what stands now."""
    return replace(group, told=group.count, told_gravity=group.gravity)


def ring_key(group: Group, ring: int | None = None) -> str:
    """The dedup key of a ring, the newest if none is named; each has its own, or the pager would fold it silently."""
    number = group.rings if ring is None else ring
    return group.key if number <= 1 else f"{group.key}-{number}"


def group_page(
    group: Group,
    kind: Kind,
    key: str,
    step: int,
    links: Links,
    now: datetime,
    escalates_at: datetime | None = None,
) -> Page:
    """What a page of the group says at this moment."""
    return Page(
        kind=kind,
        dedup_key=key,
        incident=group.key,
        level=group.level,
        outcome=group.outcome,
        reason="grouped",
        score=group.score,
        since=group.since,
        deadline=None,
        release=group.scope.release or "",
        track=group.scope.track,
        lang="und",
        region="",
        step=step,
        escalates_at=escalates_at,
        link=links.show(group.key),
        ack_link=links.acknowledge(group.key) if kind is Kind.PAGE else None,
        runbook=links.runbook,
        detected_at=now,
        group=group.count,
        probe=group.scope.probe,
    )


def group_call(
    group: Group, call: Call, links: Links, now: datetime, escalates_at: datetime | None
) -> Notification:
    """The row that rings one target for the group, at ``call.at``."""
    key = ring_key(group)
    page = group_page(group, group.scope.kind, key, call.step, links, now, escalates_at)
    waiting = call.at > now
    return Notification(
        id=row_id(key, page.kind, call.step, call.target),
        page=page,
        delivery=Delivery(
            route=call.route,
            state=State.RETRYING if waiting else State.PENDING,
            next_at=call.at,
            reason="gathering" if waiting else "new",
        ),
        created_at=now,
    )


def group_updates(group: Group, kind: Kind, links: Links, now: datetime) -> list[Notification]:
    """Tell every target of every key that rang that it is in hand, or over."""
    return [
        Notification(
            id=row_id(key, kind, 0, call.target),
            page=group_page(group, kind, key, 0, links, now),
            delivery=Delivery(route=call.route[:1], next_at=now),
            created_at=now,
        )
        for key in [ring_key(group, ring) for ring in range(1, group.rings + 1)]
        for call in group.calls
    ]


def acknowledged(group: Group, by: str, now: datetime, *, settled: bool = False) -> Group:
    """Somebody has it; nothing joins it any more. One that is in hand stays whose it is."""
    if not group.ringing:
        return group
    return replace(group, acknowledged_at=now, acknowledged_by=by, settled=settled, look_at=now)


def ended(group: Group, now: datetime) -> Group:
    """Every incident of it is over."""
    return group if group.ended_at is not None else replace(group, ended_at=now, settled=True, look_at=None)
