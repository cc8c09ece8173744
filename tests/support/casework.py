"""One case from its first turn on, with the timers beside it: what the pipeline does, without its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.case import RETRY_WAKE, Advanced, Case, Happened, advance, put
from alerts.gravity import gravity
from alerts.incident import Event, Incident, Notify, State
from alerts.moment import Moment
from alerts.page import Kind
from alerts.policy import Disposition, Policy, Step
from alerts.watch import Status, Watch, watches
from detectors.conversation import Conversation
from detectors.turn import Turn
from tests.support.builders import START, heard

POLICY = Policy(steps=(Step(("anna",)), Step(("ben", "team"), timedelta(minutes=10))))


class Casework:
    """Checks at every step what must always hold: see ``_check``."""

    def __init__(self, policy: Policy = POLICY, conversation: str = "c", start: datetime = START) -> None:
        self.policy = policy
        self.case = Case(Conversation(conversation))
        self.clock = start
        self.watermark: datetime | None = None
        self.caught_up = True
        self.wake_at: datetime | None = None
        self.happened: list[Happened] = []
        self.verdicts: list[Watch] = []

    def read(self, turns: Iterable[Turn]) -> None:
        """A batch comes in."""
        batch = list(turns)
        newest = [turn.at for turn in batch] + ([self.watermark] if self.watermark else [])
        self.watermark = max(newest, default=None)
        conversation = heard(self.case.conversation, batch, self.clock)
        self._take(advance(replace(self.case, conversation=conversation), self._moment(), self.policy))

    def do(self, event: Event) -> None:
        """A person acknowledges or resolves."""
        self._take(put(self.case, event, Moment(self.clock, None, caught_up=False), self.policy))

    def wait(self, until: datetime) -> None:
        """Let time pass, waking whenever the case asked for it."""
        while self.wake_at is not None and self.wake_at <= until:
            self.clock = max(self.clock, self.wake_at)
            self._take(advance(self.case, self._moment(), self.policy))
        self.clock = max(self.clock, until)

    def catch_up(self) -> None:
        """The source has nothing more."""
        self.caught_up = True
        self._take(advance(self.case, self._moment(), self.policy))

    @property
    def incidents(self) -> list[Incident]:
        """As they stand, oldest first."""
        return list({step.incident.key: step.incident for step in self.happened}.values())

    def told(self, kind: Kind) -> list[tuple[datetime, Notify]]:
        return [
            (step.at, effect)
            for step in self.happened
            for effect in step.effects
            if isinstance(effect, Notify) and effect.kind is kind
        ]

    def rings(self) -> list[tuple[datetime, Notify]]:
        """Pages that are no repeats."""
        return [(when, page) for when, page in self.told(Kind.PAGE) if page.step == 0]

    def _moment(self) -> Moment:
        return Moment(self.clock, self.watermark, self.caught_up)

    def _take(self, advanced: Advanced) -> None:
        self._check(advanced)
        self.case = advanced.case
        self.wake_at = advanced.wake_at
        self.happened += advanced.happened
        self.verdicts += advanced.verdicts

    def _check(self, advanced: Advanced) -> None:
        case, incident = advanced.case, advanced.case.incident
        again = advance(case, self._moment(), self.policy)
        assert (again.case, again.happened, again.verdicts) == (case, (), ()), "advanced twice"
        dues = [
            watch.wake
            for watch in watches(case.conversation, self.policy, self._moment())
            if watch.status is not Status.SETTLED and case.known[watch.anchor].outcome is None
        ]
        if incident is not None and incident.escalate_at is not None:
            dues.append(incident.escalate_at)
        for due in dues:
            assert advanced.wake_at is not None, "nobody will wake for what is due"
            assert advanced.wake_at <= max(due, self.clock + RETRY_WAKE)
        for watch in advanced.verdicts:
            if self.policy.disposition(watch.level, watch.outcome, watch.distress) is Disposition.PAGE:
                assert incident is not None
                assert incident.state in (State.PAGING, State.ACKNOWLEDGED), "a verdict that pages was lost"
                assert incident.rank >= gravity(watch.level, watch.outcome)
