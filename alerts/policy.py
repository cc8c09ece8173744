"""The numbers and rules that decide what pages, and when. One readable place; every value can be configured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from detectors.finding import Level, Outcome


class Disposition(StrEnum):
    """What an outcome asks for."""

    PAGE = "page"  # ring somebody now
    TICKET = "ticket"  # let somebody read it in working hours
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Step:
    """One level of the escalation: ``targets`` are people or channels, told at the same time.

    ``after`` is how long they have to acknowledge before the next step.
    """

    targets: tuple[str, ...]
    after: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Policy:
    """Deadlines (DESIGN §3), episodes and escalation.

    ``grace``: how long a second message may still follow before a verdict stands.
    ``lateness``: how far behind the newest event another event may arrive while catching up.
    ``quiet``: a crisis turn later than this after the last one begins a new episode.
    """

    reply_deadline: timedelta = timedelta(seconds=60)
    imminent_reply_deadline: timedelta = timedelta(seconds=30)
    grace: timedelta = timedelta(seconds=2)
    lateness: timedelta = timedelta(seconds=2)
    quiet: timedelta = timedelta(minutes=30)
    steps: tuple[Step, ...] = ()
    # How often the steps are gone through; None: again and again until somebody acknowledges. Only a replay,
    # in which nobody can, has an end.
    rounds: int | None = None
    # A reply that harms somebody who showed no crisis still rings if the person is this distressed (0–1).
    distress_that_rings: float = 0.5

    def deadline(self, level: Level) -> timedelta:
        return self.imminent_reply_deadline if level.imminent else self.reply_deadline

    def disposition(self, level: Level, outcome: Outcome, distress: float) -> Disposition:
        """Tell what an outcome asks for.

        Half-measures are a ticket unless somebody may act within minutes (DESIGN §3).
        """
        if outcome is Outcome.HARMFUL:
            rings = level.crisis or level is Level.UNSCORED or distress >= self.distress_that_rings
            return Disposition.PAGE if rings else Disposition.TICKET
        if not level.crisis:
            return Disposition.NOTHING
        if outcome in (Outcome.UNHANDLED, Outcome.NO_REPLY):
            return Disposition.PAGE
        if outcome in (Outcome.INCOMPLETE, Outcome.SAFE_NOT_SUPPORTIVE):
            return Disposition.PAGE if level.imminent else Disposition.TICKET
        return Disposition.NOTHING
