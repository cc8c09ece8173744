"""One case from its first turn on, with the timers beside it: what the pipeline does, without its edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.case import Advanced, Case, Happened, advance, put
from alerts.incident import Event, Incident, Notify
from alerts.moment import Moment
from alerts.page import Kind
from alerts.policy import Policy, Step
from alerts.watch import Watch
from detectors.conversation import Conversation
from detectors.turn import Turn
from tests.support.builders import START, heard

POLICY = Policy(steps=(Step(("anna",)), Step(("ben", "team"), timedelta(minutes=10))))


class Casework:
    """Every step is advanced a second time, which must change nothing."""

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
        again = advance(advanced.case, self._moment(), self.policy)
        assert (again.case, again.happened, again.verdicts) == (advanced.case, (), ()), "advanced twice"
        self.case = advanced.case
        self.wake_at = advanced.wake_at
        self.happened += advanced.happened
        self.verdicts += advanced.verdicts
