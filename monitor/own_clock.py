"""How far the clocks behind a partition's turns are behind ours, told while nothing waits in it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from alerts.watch import OWN_CLOCK

SPAN = timedelta(minutes=5)  # the least of one to two of these counts
_NOTHING = timedelta(0)


class OwnClock:
    def __init__(self) -> None:
        self._least: timedelta | None = None
        self._before: timedelta | None = None  # of the span before
        self._begun: datetime | None = None

    def heard(self, age: timedelta, now: datetime) -> None:
        """The newest turn of a batch that came just now was ``age`` old. With one right clock among them it is young."""
        if self._begun is None or now - self._begun >= SPAN:
            self._before, self._least, self._begun = self._least, None, now
        off = age if age > OWN_CLOCK else _NOTHING
        self._least = off if self._least is None else min(self._least, off)

    def by_ours(self, at: datetime, now: datetime) -> datetime:
        """When a turn of ``at`` was said by our clock. One that is younger than they all are has a better clock."""
        off = min((one for one in (self._least, self._before) if one is not None), default=_NOTHING)
        return at + off if now - at >= off else at
