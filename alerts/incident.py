"""The incident: one crisis episode of one conversation, from the first sign until people close it.

``transition`` is the whole machine. Every way through it has a named reason; effects are data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.gravity import gravity, worst
from alerts.page import Kind
from alerts.policy import Disposition, Policy
from detectors.finding import Level, Outcome

TICKET = "t"
UNCONFIGURED_AFTER = timedelta(minutes=5)


class State(StrEnum):
    WATCHING = "watching"  # a crisis is known; so far nobody was let down
    TICKETED = "ticketed"  # a half-measure was noted for working hours
    PAGING = "paging"  # somebody is being rung and nobody has answered
    ACKNOWLEDGED = "acknowledged"  # a person is on it
    RESOLVED = "resolved"  # a person has closed it
    CLOSED = "closed"  # it went quiet and nobody had been let down

    @property
    def over(self) -> bool:
        return self in (State.RESOLVED, State.CLOSED)


@dataclass(frozen=True, slots=True)
class Incident:
    key: str
    conversation: str
    ordinal: int
    opened_at: datetime
    last_crisis_at: datetime
    state: State = State.WATCHING
    level: Level = Level.NONE
    outcome: Outcome | None = None
    rung: tuple[int, ...] = ()  # every gravity that was rung for, rising; each has a page of its own
    crisis_turns: int = 0
    score: float = 0.0
    step: int = 0
    escalate_at: datetime | None = None
    ticketed_at: datetime | None = None
    paged_at: datetime | None = None  # first page
    rung_at: datetime | None = None  # last page that was not a repeat
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    ended_at: datetime | None = None
    verdict: str | None = None
    release: str = "unknown"
    track: str = "production"
    lang: str = "und"
    region: str = ""
    degraded: bool = False  # something that counts towards it was judged without the encoder
    probe: bool = False  # the talk of a scripted synthetic user
    unreadable: bool = False  # its record could not be read: this is what the rows beside it tell

    @property
    def rank(self) -> int:
        """The gravity that was rung for; 0 if nobody was rung."""
        return self.rung[-1] if self.rung else 0


@dataclass(frozen=True, slots=True)
class CrisisSeen:
    """A crisis turn was read, or (``again``) one that was read before turned out graver."""

    level: Level
    score: float
    at: datetime
    again: bool = False
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """The verdict over one exchange."""

    level: Level
    outcome: Outcome
    disposition: Disposition
    release: str
    track: str
    missing: tuple[str, ...] = ()
    lang: str = "und"
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed. ``quiet``: no verdict is to come, and no crisis turn came for the time that ends an episode."""

    quiet: bool = False


@dataclass(frozen=True, slots=True)
class CaseLost:
    """What was known of the conversation cannot be read any more: a verdict that was to come will not."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """A new episode begins."""


@dataclass(frozen=True, slots=True)
class HumanTookOver:
    at: datetime


@dataclass(frozen=True, slots=True)
class Acknowledged:
    by: str


@dataclass(frozen=True, slots=True)
class Resolved:
    by: str
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a person says of an incident that is over, be it that a signed link or its own quiet closed it (H5)."""

    by: str
    verdict: str


Event = (
    CrisisSeen | Settled | Ticked | CaseLost | Superseded | HumanTookOver | Acknowledged | Resolved | Reviewed
)


@dataclass(frozen=True, slots=True)
class Notify:
    """Tell people. ``alert`` names the alert at the pager that is meant: each has a key of its own.

    "" is the first page; a page that must ring although one is out has its gravity ("r9"); a ticket is
    "t", or a page that follows it would be folded into it silently.
    """

    kind: Kind
    reason: str
    step: int = 0
    alert: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Purge:
    """The words kept for this incident are not needed: nobody was let down (M7)."""


Effect = Notify | Purge


@dataclass(frozen=True, slots=True)
class Transition:
    incident: Incident
    reason: str
    effects: tuple[Effect, ...] = ()


def transition(incident: Incident, event: Event, now: datetime, policy: Policy) -> Transition:
    """Return the incident after ``event``, the named reason, and what must be done about it."""
    if incident.state.over or isinstance(event, Reviewed):
        return _over(incident, event)
    match event:
        case CrisisSeen():
            return _crisis_seen(incident, event, now, policy)
        case Settled():
            return _settled(incident, event, now, policy)
        case Ticked():
            return _ticked(incident, now, policy, quiet=event.quiet)
        case CaseLost():
            return _case_lost(incident, now, policy)
        case Superseded():
            return _superseded(incident, now)
        case HumanTookOver():
            return _human_took_over(incident, event, now)
        case Acknowledged():
            return _acknowledged(incident, event.by, now)
        case Resolved():
            return _resolved(incident, event, now)


def _over(incident: Incident, event: Event) -> Transition:
    """Nothing changes one that is over but a first verdict; it stands, since the figures have counted it."""
    if not isinstance(event, Reviewed):
        return Transition(incident, "already_over")
    if not incident.state.over:
        return Transition(incident, "not_over")
    if incident.verdict is not None:
        return Transition(incident, "already_reviewed")
    return Transition(replace(incident, verdict=event.verdict), "reviewed")


def begins_new_episode(incident: Incident | None, at: datetime, policy: Policy) -> bool:
    """A crisis after the incident was closed, or long after somebody took it in hand, is a new one (R57).

    One that still rings goes on: nobody has looked at it yet.
    """
    if incident is None or incident.state.over:
        return True
    if incident.state is State.PAGING:
        return False
    return at - incident.last_crisis_at > policy.quiet


def _crisis_seen(incident: Incident, event: CrisisSeen, now: datetime, policy: Policy) -> Transition:
    graver = event.level.severity > incident.level.severity
    seen = replace(
        incident,
        level=event.level if graver else incident.level,
        score=max(incident.score, event.score),
        last_crisis_at=max(incident.last_crisis_at, event.at),
        crisis_turns=incident.crisis_turns + (not event.again),
        degraded=incident.degraded or event.degraded,
    )
    if incident.rank and gravity(event.level, None) > incident.rank:
        return _ring(seen, "severity_rose", now, policy, gravity(event.level, None))
    return Transition(seen, "crisis_joined" if incident.crisis_turns else "crisis_seen")


def _settled(incident: Incident, event: Settled, now: datetime, policy: Policy) -> Transition:
    rank = gravity(event.level, event.outcome)
    noted = replace(
        incident,
        outcome=worst(incident.outcome, event.outcome),
        release=event.release,
        track=event.track,
        # a turn whose language cannot be told may have opened it before one that shows it was read
        lang=event.lang if incident.lang == "und" else incident.lang,
        degraded=incident.degraded or event.degraded,
    )
    if event.disposition is Disposition.NOTHING:
        return Transition(noted, f"reply_{event.outcome.value}")
    if event.disposition is Disposition.TICKET:
        if incident.state is State.WATCHING:
            ticket = Notify(Kind.TICKET, event.outcome.value, alert=TICKET, missing=event.missing)
            ticketed = replace(noted, state=State.TICKETED, ticketed_at=now)
            return Transition(ticketed, f"reply_{event.outcome.value}", (ticket,))
        return Transition(noted, "joined")
    if rank > incident.rank:
        return _ring(noted, event.outcome.value, now, policy, rank, event.missing)
    return Transition(noted, "joined_ringing" if incident.state is State.PAGING else "joined_acknowledged")


def _ring(
    incident: Incident, reason: str, now: datetime, policy: Policy, rank: int, missing: tuple[str, ...] = ()
) -> Transition:
    ringing = replace(
        incident,
        state=State.PAGING,
        rung=(*incident.rung, rank),
        step=0,
        paged_at=incident.paged_at or now,
        rung_at=now,
        escalate_at=_escalation(policy, 0, now),
        acknowledged_at=None,
        acknowledged_by=None,
    )
    return Transition(ringing, reason, (Notify(Kind.PAGE, reason, 0, _pages(ringing)[-1], missing),))


def _ticked(incident: Incident, now: datetime, policy: Policy, *, quiet: bool) -> Transition:
    due = incident.escalate_at
    if incident.state is State.PAGING and due is not None and now >= due:
        step = incident.step + 1
        again = replace(incident, step=step, escalate_at=_escalation(policy, step, now))
        notify = Notify(Kind.PAGE, "nobody_acknowledged", step, _pages(incident)[-1])
        return Transition(again, "nobody_acknowledged", (notify,))
    if incident.state is State.WATCHING and quiet:
        return _closed(incident, now, "went_quiet")
    return Transition(incident, "nothing_due")


def _case_lost(incident: Incident, now: datetime, policy: Policy) -> Transition:
    """Unhandled until proved otherwise, and nothing can prove it now."""
    rank = gravity(incident.level, Outcome.UNHANDLED)
    if rank <= incident.rank:
        return Transition(incident, "case_lost")
    lost = replace(incident, outcome=worst(incident.outcome, Outcome.UNHANDLED))
    return _ring(lost, "case_lost", now, policy, rank)


def _superseded(incident: Incident, now: datetime) -> Transition:
    """Where somebody was let down, a person closes it; no other timer comes for one that is not the newest."""
    if incident.state is State.WATCHING:
        return _closed(incident, now, "superseded")
    return Transition(incident, "superseded")


def _closed(incident: Incident, now: datetime, reason: str) -> Transition:
    return Transition(replace(incident, state=State.CLOSED, ended_at=now), reason, (Purge(),))


def _human_took_over(incident: Incident, event: HumanTookOver, now: datetime) -> Transition:
    if incident.state is not State.PAGING:
        return Transition(incident, "human_took_over")
    return _acknowledged(incident, "human_agent", max(now, event.at), "human_took_over")


def _acknowledged(incident: Incident, by: str, now: datetime, reason: str = "acknowledged") -> Transition:
    if incident.state is State.ACKNOWLEDGED:
        return Transition(incident, "already_acknowledged")
    taken = replace(
        incident, state=State.ACKNOWLEDGED, acknowledged_at=now, acknowledged_by=by, escalate_at=None
    )
    told = tuple(Notify(Kind.ACKNOWLEDGE, reason, alert=alert) for alert in _pages(incident))
    return Transition(taken, reason, told)


def _resolved(incident: Incident, event: Resolved, now: datetime) -> Transition:
    done = replace(
        incident,
        state=State.RESOLVED,
        ended_at=now,
        verdict=event.verdict,
        acknowledged_by=incident.acknowledged_by or event.by,
        acknowledged_at=incident.acknowledged_at or now,
        escalate_at=None,
    )
    alerts = (*_pages(incident), *((TICKET,) if incident.ticketed_at else ()))
    told = tuple(Notify(Kind.RESOLVE, "resolved", alert=alert) for alert in alerts)
    return Transition(done, "resolved", told)


def _pages(incident: Incident) -> list[str]:
    """The pages that are out, first to last. All of them: one that is left open would go on ringing."""
    return ["" if index == 0 else f"r{rank}" for index, rank in enumerate(incident.rung)]


def ringing(incident: Incident, reason: str) -> Notify | None:
    """The call that should be out now; None if nobody is being rung."""
    if incident.state is not State.PAGING or not incident.rung:
        return None
    return Notify(Kind.PAGE, reason, incident.step, _pages(incident)[-1])


def wait_of(policy: Policy, step: int) -> timedelta:
    """How long a step's ring may go unanswered."""
    return policy.steps[step % len(policy.steps)].after if policy.steps else UNCONFIGURED_AFTER


def _escalation(policy: Policy, step: int, now: datetime) -> datetime | None:
    """Return when the next step is due. Nobody configured is no reason to ring but once."""
    if policy.rounds is not None and step + 1 >= policy.rounds * max(len(policy.steps), 1):
        return None
    return now + wait_of(policy, step)
