"""A case: a conversation with its newest incident. ``advance`` is everything that can happen to it.

The pipeline calls it when turns came, the timers when time has passed, people when they acknowledge. It is
pure; the caller writes what it returns in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.gravity import worse, worst
from alerts.incident import (
    CaseLost,
    CrisisSeen,
    Effect,
    Event,
    HumanTookOver,
    Incident,
    Settled,
    State,
    Superseded,
    Ticked,
    Transition,
    begins_new_episode,
    transition,
)
from alerts.moment import Moment
from alerts.policy import Disposition, Policy
from alerts.watch import Status, Watch, watches
from detectors.conversation import Conversation
from detectors.finding import Level, Outcome
from detectors.fold import PIECE_LIFE, PIECE_LIFE_BEHIND, trim
from detectors.turn import Role

RETRY_WAKE = timedelta(seconds=1)  # a deadline that could not be decided yet is looked at again


@dataclass(frozen=True, slots=True)
class Known:
    """What is on record about a user turn: its episode, and the verdict over its exchange that was acted upon.

    ``heard_at``: nothing later than this was known of the exchange when the verdict was looked at.
    """

    ordinal: int
    severity: int
    outcome: Outcome | None = None
    heard_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """``version`` guards against two writers (compare-and-set in the store). ``known`` is by user turn.

    ``begun_anew``: its record could not be read, or made no sense, and this is what stands beside it. Only until it is advanced.
    """

    conversation: Conversation
    incident: Incident | None = None
    known: dict[str, Known] = field(default_factory=dict)
    version: int = 0
    begun_anew: bool = False


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

    ``wake_at``: when time alone may change something; None if never. ``begun_anew``: the case was, see there.
    """

    case: Case
    happened: tuple[Happened, ...]
    verdicts: tuple[Watch, ...]
    wake_at: datetime | None
    begun_anew: bool = False


def advance(case: Case, moment: Moment, policy: Policy) -> Advanced:
    """Bring a case up to ``moment``. Calling it again with nothing new changes nothing."""
    run = _Run(case, moment, policy)
    if case.begun_anew:
        run.apply(CaseLost())
    run.human_agent_came()
    for watch in watches(case.conversation, policy, moment):
        run.observe(watch)
    run.human_agent_has_last_word()
    pending = run.pending
    run.apply(Ticked(quiet=not pending and _gone_quiet(run.incident, moment, policy)))
    held = frozenset(event for watch in pending for event in (*watch.user_entries, *watch.reply_entries))
    piece_life = PIECE_LIFE if moment.caught_up else PIECE_LIFE_BEHIND
    conversation = trim(case.conversation, held, moment.clock, piece_life)
    remaining = {entry.event for entry in conversation.entries}
    known = {anchor: fact for anchor, fact in run.known.items() if anchor in remaining}
    return Advanced(
        case=replace(case, conversation=conversation, incident=run.incident, known=known, begun_anew=False),
        happened=tuple(run.happened),
        verdicts=tuple(run.verdicts),
        wake_at=_wake_at(run.incident, pending, moment, policy),
        begun_anew=case.begun_anew,
    )


def put(case: Case, event: Event, moment: Moment, policy: Policy) -> Advanced:
    """Apply what a person did (acknowledge, resolve) to the newest incident."""
    run = _Run(case, moment, policy)
    run.apply(event)
    after = advance(replace(case, incident=run.incident), moment, policy)
    return replace(after, happened=(*run.happened, *after.happened))


def begun_anew(case: Case, now: datetime, policy: Policy) -> Case:
    """What stands for a case that was read and that nobody can decide about: the incident it was at, if at least that can be."""
    lost = replace(case, conversation=Conversation(case.conversation.key), known={}, begun_anew=True)
    try:
        advance(lost, Moment(now), policy)
    except Exception:  # noqa: BLE001 - a state that no code should have written: it may raise anything
        before = lost.incident
        over = before is None or before.state.over
        stands = before and stand_in(lost.conversation.key, before.ordinal, now, before.release, over=over)
        return replace(lost, incident=stands)
    return lost


def stand_in(conversation: str, ordinal: int, opened_at: datetime, release: str, *, over: bool) -> Incident:
    """Stands for an incident that is of no use. While that may be open it is the next one: what it rang for would not ring again."""
    ordinal += not over
    return Incident(
        key=incident_key(conversation, ordinal),
        conversation=conversation,
        ordinal=ordinal,
        opened_at=opened_at,
        last_crisis_at=opened_at,
        state=State.CLOSED if over else State.WATCHING,
        level=Level.UNSCORED,
        release=release,
    )


class _Run:
    """The bookkeeping of one call of ``advance``."""

    def __init__(self, case: Case, moment: Moment, policy: Policy) -> None:
        self.conversation = case.conversation
        self.incident = case.incident
        self.known = dict(case.known)
        self.happened: list[Happened] = []
        self.verdicts: list[Watch] = []
        self.pending: list[Watch] = []  # a verdict is still to come
        self._moment = moment
        self._policy = policy

    def observe(self, watch: Watch) -> None:
        facts = self._facts(watch)
        unheard = [crisis for crisis in watch.crises if self._severity(crisis.event) == 0]
        graver = [crisis for crisis in watch.crises if crisis.level.severity > self._severity(crisis.event)]
        stands = _standing(facts)
        if stands is not None and not unheard and not _reopens(watch, facts):
            return
        settled = watch.status is Status.SETTLED
        if not settled:
            self.pending.append(watch)
        verdict_new = settled and (stands is None or worse(watch.outcome, stands))
        asks = verdict_new and self._disposition(watch) is not Disposition.NOTHING
        if not facts or graver or asks:
            self._belong(watch, max((crisis.at for crisis in graver), default=watch.at))
        for crisis in graver:
            self.apply(
                CrisisSeen(
                    crisis.level,
                    crisis.score,
                    crisis.at,
                    again=crisis not in unheard,
                    degraded=watch.degraded,
                )
            )
        if verdict_new:
            self.verdicts.append(watch)
        if verdict_new or (settled and graver):
            self.apply(self._settled(watch))
        self._note(
            watch, worst(stands, watch.outcome) if settled else stands, moved=bool(graver) or verdict_new
        )

    def _facts(self, watch: Watch) -> list[Known]:
        """What is on record about a watch: about its crisis turns as such, where it has any.

        Small talk beside them may have stood in an earlier exchange, which has had its verdict.
        """
        if not watch.crises:
            return [self.known[event] for event in watch.user_entries if event in self.known]
        return [self.known[crisis.event] for crisis in watch.crises if self._severity(crisis.event)]

    def _note(self, watch: Watch, outcome: Outcome | None, *, moved: bool) -> None:
        ordinal = self.incident.ordinal if self.incident else 0
        levels = {crisis.event: crisis.level.severity for crisis in watch.crises}
        for event in watch.user_entries:
            before = self.known.get(event, Known(ordinal, 0))
            self.known[event] = Known(
                ordinal=ordinal if moved else before.ordinal,
                severity=max(levels.get(event, 0), self._severity(event)),
                outcome=outcome,
                heard_at=watch.heard_at if watch.status is Status.SETTLED else before.heard_at,
            )

    def _severity(self, event: str) -> int:
        return self.known[event].severity if event in self.known else 0

    def human_agent_came(self) -> None:
        """One who came after the last ring is on it, before whatever else has come since."""
        rung_at = self.incident.rung_at if self.incident else None
        came = [entry.received for entry in self.conversation.entries if entry.role is Role.HUMAN_AGENT]
        if rung_at is not None and came and max(came) > rung_at:
            self._taken_over(max(came))

    def human_agent_has_last_word(self) -> None:
        """So is one who answered the last crisis turn after the assistant did, though we read of both at once."""
        spoken = [entry for entry in self.conversation.entries if entry.speaks]
        since = max((place for place, e in enumerate(spoken) if self._severity(e.event)), default=0)
        answers = [entry for entry in spoken[since:] if entry.role is not Role.USER]
        if answers and answers[-1].role is Role.HUMAN_AGENT:
            self._taken_over(answers[-1].received)

    def _taken_over(self, at: datetime) -> None:
        if self.incident is not None and self.incident.state is State.PAGING:
            self.apply(HumanTookOver(at))

    def apply(self, event: Event) -> None:
        if self.incident is None:
            return
        result: Transition = transition(self.incident, event, self._moment.clock, self._policy)
        if result.incident != self.incident or result.effects:
            self.happened.append(Happened(result.incident, result.reason, result.effects, self._moment.clock))
        self.incident = result.incident

    def _belong(self, watch: Watch, at: datetime) -> None:
        """Find the episode of a watch, or open a new one. An event is never lost to a closed incident."""
        if not begins_new_episode(self.incident, at, self._policy):
            return
        self.apply(Superseded())
        ordinal = self.incident.ordinal + 1 if self.incident else 1
        self.incident = Incident(
            key=incident_key(self.conversation.key, ordinal),
            conversation=self.conversation.key,
            ordinal=ordinal,
            opened_at=self._moment.clock,
            last_crisis_at=at,
            release=watch.release,
            track=watch.track.value,
            lang=watch.lang,
            region=watch.region,
            probe=watch.probe,
        )
        self.happened.append(Happened(self.incident, "opened", (), self._moment.clock))

    def _disposition(self, watch: Watch) -> Disposition:
        return self._policy.disposition(watch.level, watch.outcome, watch.distress)

    def _settled(self, watch: Watch) -> Settled:
        return Settled(
            level=watch.level,
            outcome=watch.outcome,
            disposition=self._disposition(watch),
            release=watch.release,
            track=watch.track.value,
            missing=tuple(criterion.value for criterion in watch.missing),
            lang=watch.lang,
            degraded=watch.degraded,
        )


def _gone_quiet(incident: Incident | None, moment: Moment, policy: Policy) -> bool:
    """While a backlog is read the next crisis turn may be waiting in it: then the source decides, not the clock."""
    if incident is None:
        return False
    over = incident.last_crisis_at + policy.quiet
    return moment.passed(over, over, policy.lateness)


def _standing(facts: list[Known]) -> Outcome | None:
    """The verdict that was acted upon, if there is one."""
    standing: Outcome | None = None
    for fact in facts:
        if fact.outcome is not None:
            standing = worst(standing, fact.outcome)
    return standing


def _reopens(watch: Watch, facts: list[Known]) -> bool:
    """A verdict that stands is looked at again only if more was heard in its exchange, or harm is found.

    Else it would change, long afterwards, because what it stood on has left the window.
    """
    heard = max((fact.heard_at for fact in facts if fact.heard_at is not None), default=None)
    harmed = watch.outcome is Outcome.HARMFUL and all(fact.outcome is not Outcome.HARMFUL for fact in facts)
    return heard is None or watch.heard_at > heard or harmed


def incident_key(conversation: str, ordinal: int) -> str:
    """Name an incident. Made from the pseudonym and a count, so that every worker makes the same one."""
    return f"jz-{conversation[:20]}-{ordinal}"


def ordinal_of(key: str) -> int:
    """The count in an incident's name."""
    return int(key.rpartition("-")[2])


def _wake_at(
    incident: Incident | None, pending: list[Watch], moment: Moment, policy: Policy
) -> datetime | None:
    times = [watch.wake for watch in pending]
    if incident is not None and incident.escalate_at is not None:
        times.append(incident.escalate_at)
    if incident is not None and incident.state is State.WATCHING and not pending:
        times.append(incident.last_crisis_at + policy.quiet + RETRY_WAKE)
    # What is due by the clock but could not be decided waits for the source.
    return min(
        (max(time, moment.clock + RETRY_WAKE) if time <= moment.clock else time for time in times),
        default=None,
    )
