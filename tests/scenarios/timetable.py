"""Timetables that read like sentences: what is said when, and what must have been told to people by when.

Seconds count from the start. What happens and what is expected stand in the order of time; a timetable is played
while it is read, with the timers that the product would run, and without waiting.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from alerts.incident import Acknowledged, Incident, Resolved, State
from alerts.page import Kind
from alerts.policy import Policy
from detectors.finding import Outcome
from detectors.turn import Role
from tests.support.builders import assistant, at, human, pieces, turn, user
from tests.support.casework import POLICY, Casework

HOUR = 3600


@dataclass
class Timetable:
    policy: Policy = POLICY
    conversation: str = "c"
    now: float = 0
    _work: Casework = field(init=False)
    _checked: dict[Kind, int] = field(init=False, default_factory=lambda: dict.fromkeys(Kind, 0))

    def __post_init__(self) -> None:
        self._work = Casework(self.policy, self.conversation)

    # what happens

    def at(self, seconds: float) -> Timetable:
        """Let time go on."""
        assert seconds >= self.now, "a timetable goes forward"
        self._work.wait(at(seconds))
        self.now = seconds
        return self

    def user(self, text: str, said: float | None = None) -> Timetable:
        """``said`` is earlier than now for a turn that comes late."""
        return self._read(user(text, self.now if said is None else said))

    def assistant(self, text: str, said: float | None = None) -> Timetable:
        return self._read(assistant(text, self.now if said is None else said))

    def human_agent(self) -> Timetable:
        return self._read(human(self.now))

    def system(self) -> Timetable:
        return self._read(turn(Role.SYSTEM, "note", self.now))

    def stream(self, text: str, until: float, *, ends: bool = True, count: int = 4) -> Timetable:
        """The assistant speaks in pieces; each is read when it is said."""
        parts = pieces(text, self.now, until, count)
        for part in parts if ends else parts[:-1]:
            self.at((part.at - at(0)).total_seconds())._read(part)
        return self

    def acknowledged(self, by: str = "anna") -> Timetable:
        self._work.do(Acknowledged(by))
        return self

    def resolved(self, by: str = "anna") -> Timetable:
        self._work.do(Resolved(by))
        return self

    def outage(self) -> Timetable:
        """From here on nothing is read as it is said; ``caught_up`` ends it."""
        self._work.caught_up = False
        return self

    def caught_up(self) -> Timetable:
        self._work.catch_up()
        return self

    # what is expected

    def page_between(self, first: float, last: float, reason: str | None = None) -> Timetable:
        """The next page goes out within these times."""
        return self._told(Kind.PAGE, first, last, reason)

    def ticket_at(self, seconds: float, reason: str | None = None) -> Timetable:
        return self._told(Kind.TICKET, seconds, seconds, reason)

    def no_page(self, until: float | None = None) -> Timetable:
        """Nobody more is rung, within an hour if no time is given."""
        return self._none(Kind.PAGE, until)

    def no_ticket(self, until: float | None = None) -> Timetable:
        return self._none(Kind.TICKET, until)

    def outcome(self, *outcomes: str) -> Timetable:
        """The verdicts so far."""
        assert [watch.outcome for watch in self._work.verdicts] == [Outcome(outcome) for outcome in outcomes]
        return self

    def reason(self, *reasons: str) -> Timetable:
        assert [watch.reason for watch in self._work.verdicts] == list(reasons)
        return self

    def incidents(self, *states: str) -> Timetable:
        """Every incident so far as it stands now."""
        assert [incident.state for incident in self.listed] == [State(state) for state in states]
        return self

    @property
    def listed(self) -> list[Incident]:
        return self._work.incidents

    def _read(self, one) -> Timetable:
        self._work.read([one])
        return self

    def _told(self, kind: Kind, first: float, last: float, reason: str | None) -> Timetable:
        self.at(max(last, self.now))
        told = self._work.told(kind)
        place = self._checked[kind]
        assert len(told) > place, f"no {kind.value} by {last} s"
        when, effect = told[place]
        assert at(first) <= when <= at(last), f"{kind.value} after {(when - at(0)).total_seconds()} s"
        assert reason is None or effect.reason == reason, f"{kind.value} for {effect.reason}"
        self._checked[kind] += 1
        return self

    def _none(self, kind: Kind, until: float | None) -> Timetable:
        self.at(self.now + HOUR if until is None else until)
        more = self._work.told(kind)[self._checked[kind] :]
        assert not more, f"{len(more)} more of kind {kind.value}, first for {more[0][1].reason}"
        return self
