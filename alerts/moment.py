"""What time it is, for a decision: the clock, and how far the source has been read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Moment:
    """``watermark`` is the newest event time read from the conversation's partition.

    While a backlog is read, silence proves nothing until the watermark has passed; once we have caught up,
    the clock decides (DESIGN §3). ``read_to`` is the watermark by our clock, where all that speak there have clocks that
    are behind.
    """

    clock: datetime
    watermark: datetime | None = None
    caught_up: bool = True
    read_to: datetime | None = None

    def passed(
        self, due: datetime, wake: datetime, lateness: timedelta, behind: timedelta = timedelta(0)
    ) -> bool:
        """True once ``due`` (event time, by a clock that is ``behind`` ours) has surely passed, or ``wake`` has by the clock."""
        if self.caught_up and self.clock >= wake:
            return True
        marks = (self.watermark, self.read_to if behind else None)
        return any(mark is not None and mark >= due + behind + lateness for mark in marks)
