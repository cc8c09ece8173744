"""A case: a conversation with its newest incident. ``advance`` is everything that can happen to it.

The pipeline calls it when turns came, the timers when time has passed, people when they acknowledge. It is
pure; the caller writes what it returns in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.incident import (
    CrisisSeen,
    Effect,
    Event,
    HumanTookOver,
    Incident,
    Settled,
    State,
    Ticked,
    Transition,
    begins_new_episode,
    transition,
    worse,
)
from alerts.moment import Moment
from alerts.policy import Policy
from alerts.watch import Status, Watch, watches
from detectors.conversation import Conversation
from detectors.finding import Outcome
from detectors.fold import trim
from detectors.turn import Role

RETRY_WAKE = timedelta(seconds=1)  # a deadline that could not be decided yet is looked at again


@dataclass(frozen=True, slots=True)
class Known:
    """What is already on record about a watch: the episode it belongs to, and the verdict acted upon."""

    ordinal: int
    severity: int
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``version`` guards against two writers (compare-and-set in the store)."""

    conversation: Conversation
    incident: Incident | None = None
    known: dict[str, Known] = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True)
class Happened:
    """One transition of one incident, for the audit, the outbox and the metrics."""

    incident: Incident
    reason: str
    effects: tuple[Effect, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Advanced:
    """``verdicts``: watches whose outcome now stands, each once (or again when it got worse).

    ``wake_at``: when time alone may change something; None if never.
    """

    case: Case
    happened: tuple[Happened, ...]
    verdicts: tuple[Watch, ...]
    wake_at: datetime | None


def advance(case: Case, moment: Moment, policy: Policy) -> Advanced:
    """Bring a case up to ``moment``. Calling it again with nothing new changes nothing."""
    run = _Run(case, moment, policy)
    observed = watches(case.conversation, policy, moment)
    for watch in observed:
        run.observe(watch)
    run.human_agent()
    run.apply(Ticked())
    pending = [watch for watch in observed if watch.status is not Status.SETTLED]
    held = frozenset(event for watch in pending for event in watch.user_entries)
    conversation = trim(case.conversation, held)
    remaining = {entry.event for entry in conversation.entries}
    known = {anchor: fact for anchor, fact in run.known.items() if anchor in remaining}
    return Advanced(
        case=replace(case, conversation=conversation, incident=run.incident, known=known),
        happened=tuple(run.happened),
        verdicts=tuple(run.verdicts),
        wake_at=_wake_at(run.incident, pending, moment, policy),
    )


def put(case: Case, event: Event, moment: Moment, policy: Policy) -> Advanced:
    """Apply what a person did (acknowledge, resolve) to the newest incident."""
    run = _Run(case, moment, policy)
    run.apply(event)
    after = advance(replace(case, incident=run.incident), moment, policy)
    return replace(after, happened=(*run.happened, *after.happened))


class _Run:
    """The bookkeeping of one call of ``advance``."""

    def __init__(self, case: Case, moment: Moment, policy: Policy) -> None:
        self.conversation = case.conversation
        self.incident = case.incident
        self.known = dict(case.known)
        self.happened: list[Happened] = []
        self.verdicts: list[Watch] = []
        self._moment = moment
        self._policy = policy

    def observe(self, watch: Watch) -> None:
        fact = self.known.get(watch.anchor)
        graver = fact is None or watch.level.severity > fact.severity
        settled = watch.status is Status.SETTLED
        verdict_new = settled and (fact is None or fact.outcome is None or worse(watch.outcome, fact.outcome))
        if not (graver or verdict_new):
            return
        if fact is None or (self.incident and fact.ordinal != self.incident.ordinal):
            self._belong(watch)
        if graver and watch.level.crisis:
            self.apply(CrisisSeen(watch.level, watch.score, watch.at))
        if verdict_new:
            self.verdicts.append(watch)
            self.apply(self._settled(watch))
        self.known[watch.anchor] = Known(
            ordinal=self.incident.ordinal if self.incident else 0,
            severity=max(watch.level.severity, fact.severity if fact else 0),
            outcome=watch.outcome if verdict_new else (fact.outcome if fact else None),
        )

    def human_agent(self) -> None:
        """A human agent who came after the last ring is on it."""
        incident = self.incident
        if incident is None or incident.state is not State.PAGING or incident.rung_at is None:
            return
        came = [e.received for e in self.conversation.entries if e.role is Role.HUMAN_AGENT]
        if came and max(came) > incident.rung_at:
            self.apply(HumanTookOver(max(came)))

    def apply(self, event: Event) -> None:
        if self.incident is None:
            return
        result: Transition = transition(self.incident, event, self._moment.clock, self._policy)
        if result.incident != self.incident or result.effects:
            self.happened.append(Happened(result.incident, result.reason, result.effects, self._moment.clock))
        self.incident = result.incident

    def _belong(self, watch: Watch) -> None:
        """Find the episode of a watch, or open a new one. An event is never lost to a closed incident."""
        if not begins_new_episode(self.incident, watch.at, self._policy):
            return
        ordinal = self.incident.ordinal + 1 if self.incident else 1
        self.incident = Incident(
            key=incident_key(self.conversation.key, ordinal),
            conversation=self.conversation.key,
            ordinal=ordinal,
            opened_at=self._moment.clock,
            last_crisis_at=watch.at,
            release=watch.release,
            track=watch.track.value,
            lang=watch.lang,
            region=watch.region,
        )
        self.happened.append(Happened(self.incident, "opened", (), self._moment.clock))

    def _settled(self, watch: Watch) -> Settled:
        disposition = self._policy.disposition(watch.level, watch.outcome, watch.distress)
        return Settled(
            level=watch.level,
            outcome=watch.outcome,
            disposition=disposition,
            release=watch.release,
            track=watch.track.value,
            missing=tuple(criterion.value for criterion in watch.missing),
        )


def incident_key(conversation: str, ordinal: int) -> str:
    """Name an incident. Made from the pseudonym and a count, so that every worker makes the same one."""
    return f"jz-{conversation[:20]}-{ordinal}"


def _wake_at(
    incident: Incident | None, pending: list[Watch], moment: Moment, policy: Policy
) -> datetime | None:
    times = [watch.wake for watch in pending]
    if incident is not None and incident.escalate_at is not None:
        times.append(incident.escalate_at)
    if incident is not None and incident.state is State.WATCHING and not pending:
        times.append(incident.last_crisis_at + policy.quiet + RETRY_WAKE)
    return max(min(times), moment.clock + RETRY_WAKE / 20) if times else None
