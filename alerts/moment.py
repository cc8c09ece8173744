"""What time it is, for a decision: the clock, and how far the source has been read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Moment:
    """``watermark`` is the newest event time read from the conversation's partition.

    While a backlog is read, silence proves nothing until the watermark has passed; once we have caught up,
    the clock decides (DESIGN §3).
    """

    clock: datetime
    watermark: datetime | None = None
    caught_up: bool = True

    def passed(self, due: datetime, wake: datetime, lateness: timedelta) -> bool:
        """True once ``due`` (event time) has surely passed, or ``wake`` has by the clock."""
        if self.caught_up and self.clock >= wake:
            return True
        return self.watermark is not None and self.watermark >= due + lateness
