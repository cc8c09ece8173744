"""How many requests a channel is sent: so many at once, and one more each interval. One moment is the whole state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Pace:
    """A generic cell rate (ITU-T I.371): at most ``burst`` + span / ``interval`` requests in any span of time.

    The state is when the bucket will be full again; None and any moment that has passed mean that it is.
    """

    burst: int
    interval: timedelta

    @classmethod
    def share(cls, a_minute: float) -> Pace:
        """At most ``a_minute`` (2 at least) in any minute: half of it at once, the rest as time passes."""
        burst = max(1, int(a_minute / 2))
        return cls(burst, MINUTE / max(1, int(a_minute) - burst))

    def free_at(self, full_at: datetime | None, now: datetime) -> datetime:
        """When the next request may leave: ``now``, or later."""
        return max(now, (full_at or now) - self.interval * (self.burst - 1))

    def taken(self, full_at: datetime | None, now: datetime) -> datetime:
        """The state after one request."""
        return max(full_at or now, now) + self.interval
