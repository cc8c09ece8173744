"""Which of the requests that are due leave by themselves, and which one page tells of together.

A bad release lets ten thousand people down within a minute. Ten thousand calls would reach nobody: the pager
turns them away, and whoever is rung puts the telephone aside. So the first pages of a release ring singly, those
where somebody may die now or was harmed have places kept for them, and a group speaks for the rest.
Nothing is dropped and nothing is switched off: what is carried stands in the group's list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.delivery import ADMITTED, Delivery, carried, put_off
from alerts.escalation import Links
from alerts.group import (
    LOOK,
    Call,
    Group,
    Scope,
    called,
    gravity_of,
    group_call,
    group_key,
    group_page,
    joined,
    left,
    scope_of,
)
from alerts.pace import Pace
from alerts.page import Kind, Page
from alerts.ports import Notification
from detectors.finding import Level, Outcome
from detectors.turn import Track

HELD = timedelta(milliseconds=500)  # until the request before it has probably been answered
_AGAIN = 0.9  # of an escalation's time: a group's incidents escalate one after another, and ring together
_EVERY = timedelta(minutes=5)
_TAKEN_WITHIN = timedelta(minutes=5)


class Reason(StrEnum):
    """What was decided about one request that is due."""

    SINGLE = "single"  # it leaves by itself
    CARRIED = "carried"  # a group's page tells of it
    HELD = "held"  # another request about the same incident is on its way to the same channel
    PACED = "paced"  # an update, and the channel has had enough for now


class Lane(StrEnum):
    """Requests that share a pace, channel by channel. What fills one lane leaves the others free."""

    LIVE = "live"
    URGENT = "urgent"  # kept for those in progress, and for harm done
    REHEARSAL = "rehearsal"  # staging and probes
    UPDATE = "update"
    TICKET = "ticket"
    GROUP = "group"
    GROUP_APART = "group_apart"  # groups of staging, of probes and of tickets
    AGAIN = "again"  # asked before, without an answer; stands beside the channel's limit


_SHARES = {
    Lane.LIVE: 0.30,
    Lane.URGENT: 0.20,
    Lane.REHEARSAL: 0.08,
    Lane.UPDATE: 0.25,
    Lane.TICKET: 0.05,
    Lane.GROUP: 0.10,
    Lane.GROUP_APART: 0.02,
    Lane.AGAIN: 0.30,
}


@dataclass(frozen=True, slots=True)
class StormPolicy:
    """``requests`` is what one channel is sent in a minute, shared out by lanes: PagerDuty takes 120 of a service.

    ``singles``: how many pages of one release ring singly; one more each minute. A group's first page waits for
    ``gathering``. It rings again when it is ``growth`` times what was told or somebody of its own rises, not
    before ``renewal``; at once when it is graver. More than ``groups`` of a kind and track at once: one for all
    other releases.
    """

    requests: int = 100
    singles: int = 10
    gathering: timedelta = timedelta(seconds=5)
    growth: int = 4
    renewal: timedelta = timedelta(seconds=30)
    groups: int = 5

    def pace(self, lane: Lane) -> Pace:
        return Pace.share(self.requests * _SHARES[lane])

    def release_pace(self) -> Pace:
        return Pace(self.singles, timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class Stand:
    """What is on record when rows come due.

    ``full``: the state of paces by name. ``groups``: the newest of each scope that the rows belong to, and those
    that told of them before. ``told``: the group's key by dedup key. ``members``: (group, incident) pairs among
    the rows' incidents. ``ringing``: number of groups that ring, by scope without its release. ``busy``: (incident,
    channel) pairs of requests that are on their way.
    """

    full: Mapping[str, datetime] = field(default_factory=dict)
    groups: Sequence[Group] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    members: frozenset[tuple[str, str]] = frozenset()
    ringing: Mapping[Scope, int] = field(default_factory=dict)
    busy: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Changed:
    """A row that does not leave, or a group's that leaves sooner: its new state, and the group that tells of it."""

    row: Notification
    delivery: Delivery
    told_by: str | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """What follows. All of it is written together.

    ``send`` leaves now and is marked so; ``changed`` does not leave; ``calls`` are new rows.

    ``reasons`` is by row id. ``joined``: (group, incident) pairs that are new.
    """

    send: tuple[Notification, ...]
    changed: tuple[Changed, ...]
    calls: tuple[Notification, ...]
    groups: tuple[Group, ...]
    full: Mapping[str, datetime]
    reasons: Mapping[str, Reason]
    joined: tuple[tuple[str, str], ...]


def paces_of(rows: Sequence[Notification]) -> set[str]:
    """The names of all paces that a decision about these rows may ask for."""
    names = set()
    for row in rows:
        channel = channel_of(row)
        names |= {_name(lane, channel) for lane in Lane}
        names |= {_release_name(lane, channel, row.page) for lane in (Lane.LIVE, Lane.URGENT)}
    return names


def scopes_of(rows: Sequence[Notification]) -> set[Scope]:
    """The scopes whose groups may carry these rows, the one for all releases among them."""
    own = {scope_of(row.page) for row in rows if row.page.kind in (Kind.PAGE, Kind.TICKET)}
    return own | {all_releases(scope) for scope in own}


def all_releases(scope: Scope) -> Scope:
    return replace(scope, release=None)


def channel_of(row: Notification) -> str:
    return row.delivery.channel_name if row.delivery.route else ""


def urgent(page: Page) -> bool:
    """Somebody may die while the page waits, or our own assistant did harm."""
    return page.level == Level.IN_PROGRESS or page.outcome == Outcome.HARMFUL


def admit(
    rows: Sequence[Notification], stand: Stand, now: datetime, policy: StormPolicy, links: Links
) -> Admitted:
    """Decide about rows that are due. Pure: the same rows and stand give the same answer to whoever asks."""
    run = _Admission(stand, now, policy, links)
    for row in sorted(rows, key=_first_things_first):
        run.decide(row)
    return run.result()


def as_it_stands(row: Notification, group: Group, links: Links, now: datetime) -> Notification:
    """A row that rings for the group, with what is to be said now."""
    page = row.page
    fresh = group_page(group, page.kind, page.dedup_key, page.step, links, now, page.escalates_at)
    return replace(row, page=replace(fresh, detected_at=page.detected_at, degraded=page.degraded))


def owed(
    group: Group, now: datetime, policy: StormPolicy, links: Links
) -> tuple[Group, tuple[Notification, ...]] | None:
    """The ring of a group that is not any more what was told, if nothing that joined it could have it rung."""
    if not group.ringing or group.told == 0 or _soonest(group, now, policy) > now:
        return None
    if group.gravity <= group.told_gravity and group.count < group.told * policy.growth:
        return None
    return _again(group, now, links, now, None)


def _again(
    group: Group, at: datetime, links: Links, now: datetime, escalates_at: datetime | None
) -> tuple[Group, tuple[Notification, ...]]:
    """Everybody who was called is called once more, under another key."""
    again = replace(group, rings=group.rings + 1, ring_at=at, told=0)
    calls = [replace(call, at=at, step=call.step + 1) for call in group.calls]
    for call in calls:
        again = called(again, call)
    return again, tuple(group_call(again, call, links, now, escalates_at) for call in calls)


def _soonest(group: Group, now: datetime, policy: StormPolicy) -> datetime:
    return max(now, (group.ring_at or now) + policy.renewal)


def _first_things_first(row: Notification) -> tuple[bool, bool, bool, int]:
    page = row.page
    rings = page.kind is Kind.PAGE
    ours = page.trouble is not None or page.group > 0
    gravity = 0 if ours or not rings else gravity_of(page.level, page.outcome)
    return (not rings, not ours, not urgent(page), -gravity)


class _Admission:
    """The bookkeeping of one call of ``admit``."""

    def __init__(self, stand: Stand, now: datetime, policy: StormPolicy, links: Links) -> None:
        self._stand = stand
        self._now = now
        self._policy = policy
        self._links = links
        self._full = dict(stand.full)
        self._groups = {group.key: group for group in stand.groups}
        self._ringing = dict(stand.ringing)
        self._busy = set(stand.busy)
        self._members = set(stand.members)
        self._told = {(group, key) for key, group in stand.told.items()}
        self._joining: set[str] = set()  # keys of groups that were given a row
        self._queued: dict[str, int] = {}
        self._send: list[Notification] = []
        self._changed: list[Changed] = []
        self._calls: list[Notification] = []
        self._reasons: dict[str, Reason] = {}
        self._joined: list[tuple[str, str]] = []

    def decide(self, row: Notification) -> None:
        page = row.page
        if (page.incident, channel_of(row)) in self._busy:
            self._put_off(row, self._now + HELD, Reason.HELD)
        elif page.trouble is not None or page.test:
            self._leave(row)
        elif page.group:
            self._leave(self._as_it_stands(row))
        elif page.kind in (Kind.PAGE, Kind.TICKET):
            self._ring(row)
        else:
            self._update(row)

    def result(self) -> Admitted:
        before = {group.key: group for group in self._stand.groups}
        return Admitted(
            send=tuple(self._send),
            changed=tuple(self._changed),
            calls=tuple(self._calls),
            groups=tuple(
                group
                for key, group in self._groups.items()
                if key in self._joining or before.get(key) != group
            ),
            full={name: at for name, at in self._full.items() if self._stand.full.get(name) != at},
            reasons=self._reasons,
            joined=tuple(self._joined),
        )

    def _ring(self, row: Notification) -> None:
        page = row.page
        told_by = self._groups.get(self._stand.told.get(page.dedup_key, ""))
        if told_by is not None and (told_by.ringing or self._being_taken(told_by)):
            self._carry(row, told_by)
            return
        group = self._open(page)
        if row.delivery.attempts or row.delivery.reason == ADMITTED:
            self._again(row, group)
        elif self._take(row):
            self._leave(row)
        else:
            self._carry(row, group or self._begin(row))

    def _being_taken(self, group: Group) -> bool:
        """Somebody has the group, and its incidents are about to be theirs. One that repeats later is nobody's."""
        taken_at = group.acknowledged_at
        return taken_at is not None and not group.settled and self._now - taken_at < _TAKEN_WITHIN

    def _again(self, row: Notification, group: Group | None) -> None:
        """A receiver in trouble gets no group for what it was asked before, unless one rings already."""
        if self._taken(_name(Lane.AGAIN, channel_of(row)), self._policy.pace(Lane.AGAIN)) or group is None:
            self._leave(row)
        else:
            self._carry(row, group)

    def _take(self, row: Notification) -> bool:
        """Take a place among the channel's single requests, if one is free."""
        page, channel = row.page, channel_of(row)
        lane = _lane(page)
        paces = {_name(lane, channel): self._policy.pace(lane)}
        if page.step == 0:
            paces[_release_name(Lane.LIVE, channel, page)] = self._policy.release_pace()
        if self._all_taken(paces):
            return True
        if lane is not Lane.LIVE or not urgent(page):
            return False
        return self._all_taken(
            {
                _name(Lane.URGENT, channel): self._policy.pace(Lane.URGENT),
                _release_name(Lane.URGENT, channel, page): self._policy.release_pace(),
            }
        )

    def _all_taken(self, paces: Mapping[str, Pace]) -> bool:
        if any(pace.free_at(self._full.get(name), self._now) > self._now for name, pace in paces.items()):
            return False
        return all(self._taken(name, pace) for name, pace in paces.items())

    def _taken(self, name: str, pace: Pace) -> bool:
        if pace.free_at(self._full.get(name), self._now) > self._now:
            return False
        self._full[name] = pace.taken(self._full.get(name), self._now)
        return True

    def _update(self, row: Notification) -> None:
        name, pace = _name(Lane.UPDATE, channel_of(row)), self._policy.pace(Lane.UPDATE)
        if self._taken(name, pace):
            self._leave(row)
        else:
            # One after another: or all of them would come again at the same moment.
            ahead = self._queued.get(name, 0)
            self._queued[name] = ahead + 1
            until = pace.free_at(self._full.get(name), self._now) + pace.interval * ahead
            self._put_off(row, until, Reason.PACED)

    def _open(self, page: Page) -> Group | None:
        """The group that rings for this page's release, or for all of them."""
        own = scope_of(page)
        for scope in (own, all_releases(own)):
            for group in self._groups.values():
                if group.scope == scope and group.ringing:
                    return group
        return None

    def _begin(self, row: Notification) -> Group:
        scope = scope_of(row.page)
        several = all_releases(scope)
        many = self._ringing.get(several, 0) >= self._policy.groups
        if many or not self._group_taken(row):
            scope = several
        opened_at = self._now
        while (key := group_key(scope, opened_at)) in self._groups:
            opened_at += timedelta(seconds=1)
        self._ringing[several] = self._ringing.get(several, 0) + 1
        return Group(
            key=key, scope=scope, opened_at=self._now, since=row.page.since, look_at=self._now + LOOK
        )

    def _carry(self, row: Notification, group: Group) -> None:
        member = (group.key, row.page.incident)
        new = member not in self._members
        if new:
            self._members.add(member)
            self._joined.append(member)
        told = (group.key, row.page.dedup_key)
        rises = told not in self._told and row.page.dedup_key != row.page.incident
        self._told.add(told)
        if group.ringing:
            group = self._rung(joined(group, row.page, new=new), row, rises=rises)
        self._groups[group.key] = group
        self._joining.add(group.key)  # who takes it meanwhile must look at it once more
        self._changed.append(Changed(row, carried(row.delivery), group.key))
        self._reasons[row.id] = Reason.CARRIED

    def _rung(self, group: Group, row: Notification, *, rises: bool) -> Group:
        """Call whoever has not heard of it, or not of how it is now."""
        now, page = self._now, row.page
        if group.rings == 0:
            at = now if urgent(page) else now + self._policy.gathering
            return self._call(replace(group, rings=1, ring_at=at), row.target, row.delivery.route, at, page)
        if group.told == 0 and now < _soonest(group, now, self._policy):
            group = self._sooner(group, page)
        else:
            renewed = self._renewed_at(group, row, rises=rises)
            if renewed is not None:
                group, calls = _again(group, renewed, self._links, now, page.escalates_at)
                self._calls += calls
        known = group.call(row.target)
        if known is None:
            at = max(now, group.ring_at or now)
            return self._call(group, row.target, row.delivery.route, at, page)
        if page.step == 0:
            return group
        if known.at >= now:  # one that is to leave tells of this, too
            return called(group, replace(known, reached=max(known.reached, page.step)))
        if page.step > known.reached or now - known.at >= _waited(row) * _AGAIN:
            return self._call(group, row.target, known.route, now, page)
        return group

    def _renewed_at(self, group: Group, row: Notification, *, rises: bool) -> datetime | None:
        """When it rings again because it is not any more what was told; None while it is.

        What is graver waits for no place. What is only more is asked about again by the group's keeper (``owed``).
        """
        graver = group.gravity > group.told_gravity
        if not graver and not rises and group.count < group.told * self._policy.growth:
            return None
        free = self._group_taken(row)
        if graver:
            return self._now
        return _soonest(group, self._now, self._policy) if free or rises else None

    def _sooner(self, group: Group, page: Page) -> Group:
        """A ring waits to leave: what is graver than was told does not wait for it, nor for a first to gather."""
        now = self._now
        grave = group.gravity > group.told_gravity if group.rings > 1 else urgent(page)
        waiting = [call for call in group.calls if call.at > now]
        if not grave or not waiting:
            return group
        group = replace(group, ring_at=now)
        for call in waiting:
            group = called(group, replace(call, at=now))
            row = group_call(group, replace(call, at=now), self._links, now, page.escalates_at)
            mine = [one.id for one in self._calls]
            if row.id in mine:
                self._calls[mine.index(row.id)] = row
            else:
                self._changed.append(Changed(row, row.delivery))
        return group

    def _group_taken(self, row: Notification) -> bool:
        lane = Lane.GROUP if _lane(row.page) is Lane.LIVE else Lane.GROUP_APART
        return self._taken(_name(lane, channel_of(row)), self._policy.pace(lane))

    def _call(self, group: Group, target: str, route: tuple[str, ...], at: datetime, page: Page) -> Group:
        before = group.call(target)
        step, reached = (0, 0) if before is None else (before.step + 1, before.reached)
        call = Call(target, route, at, step, max(reached, page.step))
        group = called(group, call)
        self._calls.append(group_call(group, call, self._links, self._now, page.escalates_at))
        return group

    def _as_it_stands(self, row: Notification) -> Notification:
        """A group's page says what stands when it leaves, not when it was written."""
        group = self._groups.get(row.page.incident)
        if group is None or row.page.kind not in (Kind.PAGE, Kind.TICKET):
            return row
        self._groups[group.key] = left(group)
        return as_it_stands(row, group, self._links, self._now)

    def _leave(self, row: Notification) -> None:
        self._busy.add((row.page.incident, channel_of(row)))
        if not row.delivery.attempts:
            row = replace(row, delivery=replace(row.delivery, reason=ADMITTED))
        self._send.append(row)
        self._reasons[row.id] = Reason.SINGLE

    def _put_off(self, row: Notification, until: datetime, reason: Reason) -> None:
        self._changed.append(Changed(row, put_off(row.delivery, until, reason.value), row.told_by))
        self._reasons[row.id] = reason


def _waited(row: Notification) -> timedelta:
    """How long nobody answered before this repeat. One that an earlier release wrote does not say."""
    page = row.page
    if page.waited:
        return timedelta(seconds=page.waited)
    return min(_EVERY, page.escalates_at - row.created_at) if page.escalates_at else _EVERY


def _lane(page: Page) -> Lane:
    if page.kind is Kind.TICKET:
        return Lane.TICKET
    return Lane.REHEARSAL if page.probe or page.track == Track.STAGING else Lane.LIVE


def _name(lane: Lane, channel: str) -> str:
    return f"{lane.value}:{channel}"


def _release_name(lane: Lane, channel: str, page: Page) -> str:
    return f"{lane.value}:{scope_of(page).name}:{channel}"
