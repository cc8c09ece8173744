"""What is on record of an incident, held against itself: case, incident, deadline, outbox and trail tell one story.

A row that somebody deleted, or that a fault lost, shows as a gap between them. Pure; the auditor reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from alerts.case import RETRY_WAKE, Case, advance
from alerts.incident import Incident, State
from alerts.moment import Moment
from alerts.policy import Policy

LATE = timedelta(minutes=5)  # later than due: more than shorter deadlines in a new configuration explain
OVERDUE = timedelta(minutes=5)  # due, and decided by nobody
_NOTHING_DUE = Moment(datetime(1, 1, 1, tzinfo=UTC), None, caught_up=False)


class Gap(StrEnum):
    INCIDENT_MISSING = "incident_missing"  # trail, case or findings tell of one that is not there
    INCIDENT_DIFFERS = "incident_differs"  # it is not what its case says
    CASE_MISSING = "case_missing"  # nobody can acknowledge it, and no later turn finds it
    DEADLINE_MISSING = "deadline_missing"  # time alone must change something, and nothing wakes it
    DEADLINE_LATE = "deadline_late"
    DEADLINE_OVERDUE = "deadline_overdue"  # it fell due and cannot be decided
    PAGE_MISSING = "page_missing"  # somebody was to be told, and there is no such row
    PAGE_NOT_DUE = "page_not_due"  # nobody has it, and no relay will take it
    TRAIL_BROKEN = "trail_broken"  # its last step is not where the incident stands
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Trace:
    """One step of the trail.

    ``told``: the outbox rows it wrote; ``lost``: rows that an auditor has missed already; ``gap``: what it found,
    if it is an auditor's. ``place``: where it stands in the trail of all incidents.
    """

    state: str
    told: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    gap: str | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class OnRecord:
    """All that is kept of one incident; ``rows`` says of each outbox row found whether it is final or will be due.

    ``trail``: its newest steps, oldest first; the last one always.
    """

    key: str
    incident: Incident | None
    case: Case | None
    wake_at: datetime | None
    trail: tuple[Trace, ...]
    rows: Mapping[str, bool]
    readable: bool = True

    @property
    def conversation(self) -> str | None:
        if self.incident is not None:
            return self.incident.conversation
        return self.case.conversation.key if self.case is not None else None

    @property
    def state(self) -> str:
        """Where it stands, by whatever is left of it."""
        if self.incident is not None:
            return self.incident.state.value
        if self.case is not None and self.case.incident is not None and self.case.incident.key == self.key:
            return self.case.incident.state.value
        return self.trail[-1].state if self.trail else ""

    @property
    def told(self) -> frozenset[str]:
        """Outbox rows that must be there."""
        expected: set[str] = set()
        for step in self.trail:
            expected.difference_update(step.lost)
            expected.update(step.told)
        return frozenset(expected)


@dataclass(frozen=True, slots=True)
class Found:
    """``rows``: the outbox rows concerned; ``due``: when the case must wake, where that is what is wrong.

    ``after``: the place of the incident's newest step. What goes missing again, after it was put back, is another gap.
    """

    gap: Gap
    incident: str
    rows: frozenset[str] = frozenset()
    due: datetime | None = None
    after: int = 0


def gaps(record: OnRecord, policy: Policy, now: datetime, began: datetime) -> list[Found]:
    """Every gap that the trail does not tell of yet. ``began``: since when somebody decides what falls due."""
    told_of = {step.gap for step in record.trail if step.gap is not None}
    if not record.readable:
        found = [Found(Gap.UNREADABLE, record.key)]
    else:
        found = [*_of_rows(record), *_of_deadline(record, policy, now, began), *_of_pages(record)]
    after = record.trail[-1].place if record.trail else 0
    fresh = (one for one in found if mendable(one, record) or one.gap.value not in told_of)
    return [replace(one, after=after) for one in fresh]


def mendable(found: Found, record: OnRecord) -> bool:
    """True if it can be put right. What cannot is told of once, and stays."""
    match found.gap:
        case Gap.INCIDENT_MISSING:
            return _newest(record) is not None
        case Gap.CASE_MISSING:
            return record.incident is not None and not record.incident.state.over
        case Gap.TRAIL_BROKEN | Gap.UNREADABLE | Gap.DEADLINE_OVERDUE:
            return False
        case _:
            return True


def confirmed(first: Iterable[Found], second: Iterable[Found]) -> list[Found]:
    """What was found twice. Reading several tables is not one moment, and somebody may be writing."""
    again = {(found.gap, found.incident): found for found in second}
    both: list[Found] = []
    for found in first:
        other = again.get((found.gap, found.incident))
        if other is None:
            continue
        rows = found.rows & other.rows
        if rows or not found.rows:
            both.append(replace(other, rows=rows))
    return both


_STATES = frozenset(state.value for state in State)


def _of_rows(record: OnRecord) -> list[Found]:
    found = []
    newest = _newest(record)
    if record.incident is None:
        found.append(Found(Gap.INCIDENT_MISSING, record.key))
    elif newest is not None and _facts(newest) != _facts(record.incident):
        found.append(Found(Gap.INCIDENT_DIFFERS, record.key))
    if record.case is None:
        found.append(Found(Gap.CASE_MISSING, record.key))
    if record.incident is not None and not _leads_to(record.trail, record.incident.state):
        found.append(Found(Gap.TRAIL_BROKEN, record.key))
    return found


def _of_deadline(record: OnRecord, policy: Policy, now: datetime, began: datetime) -> list[Found]:
    if record.case is None or _newest(record) is None:
        return []
    due = due_at(record.case, policy)
    if due is None:
        return []
    if record.wake_at is None:
        return [Found(Gap.DEADLINE_MISSING, record.key, due=due)]
    if record.wake_at > max(due, now) + LATE and not _only_quiet(record.case, policy, due):
        return [Found(Gap.DEADLINE_LATE, record.key, due=due)]
    if now - max(record.wake_at, began) > OVERDUE:
        return [Found(Gap.DEADLINE_OVERDUE, record.key)]
    return []


def _of_pages(record: OnRecord) -> list[Found]:
    found = []
    if missing := record.told - record.rows.keys():
        found.append(Found(Gap.PAGE_MISSING, record.key, missing))
    if stuck := frozenset(row for row, moves in record.rows.items() if not moves):
        found.append(Found(Gap.PAGE_NOT_DUE, record.key, stuck))
    return found


def due_at(case: Case, policy: Policy) -> datetime | None:
    """When time alone may change something about a case that was advanced already; None if never."""
    return advance(case, _NOTHING_DUE, policy).wake_at


def verdict_due(case: Case, policy: Policy) -> bool:
    """True if somebody waits for more than the end of a quiet episode."""
    due = due_at(case, policy)
    return due is not None and not _only_quiet(case, policy, due)


def _newest(record: OnRecord) -> Incident | None:
    """The incident as its case has it; None if the case is at another one by now."""
    mine = record.case.incident if record.case is not None else None
    return mine if mine is not None and mine.key == record.key else None


def _facts(incident: Incident) -> tuple[object, ...]:
    """Without the score: one that is no number differs from itself."""
    return (incident.state, incident.rung, incident.level, incident.outcome, incident.escalate_at)


def _leads_to(trail: tuple[Trace, ...], state: State) -> bool:
    if not trail:
        return False
    last = trail[-1].state
    return last == state.value or last not in _STATES  # a word of a later release


def _only_quiet(case: Case, policy: Policy, due: datetime) -> bool:
    """Nobody waits for it but the end of a quiet episode, whose length may have been configured anew."""
    incident = case.incident
    if incident is None or incident.state is not State.WATCHING:
        return False
    return due == incident.last_crisis_at + policy.quiet + RETRY_WAKE
