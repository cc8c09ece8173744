"""When the process last came round after standing still: suspended, stopped, or blocked.

``clock.elapsed`` counts that time and the event loop's own does not: so every sign of life looks old at once, though each
part goes on within its next second. Nothing is to be said of what stood still together with whoever looks.
"""

from __future__ import annotations

from datetime import datetime, timedelta

GAP = timedelta(seconds=15)  # between two looks of something that looks every few seconds


class Awake:
    """Call ``look`` every few seconds, and ``looked`` where a look itself may take long. ``since``: None if it never stood still."""

    def __init__(self) -> None:
        self._looked: datetime | None = None
        self.since: datetime | None = None

    def look(self, now: datetime) -> datetime | None:
        if self._looked is not None and now - self._looked > GAP:
            self.since = now
        self._looked = now
        return self.since

    def looked(self, now: datetime) -> None:
        self._looked = now


def since_awake(at: datetime, awake: datetime | None) -> datetime:
    return at if awake is None else max(at, awake)
