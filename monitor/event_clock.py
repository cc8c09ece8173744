"""Event time for a replay: a clock that events move, and the lines in the order in which things were said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from monitor.sources.record import Record

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class EventClock:
    """Time as the events tell it; it never goes back."""

    def __init__(self) -> None:
        self._now = BEGINNING

    def now(self) -> datetime:
        return self._now

    async def sleep(self, duration: timedelta) -> None:
        self._now += duration

    def reach(self, at: datetime) -> None:
        self._now = max(self._now, at)


@dataclass(frozen=True, slots=True)
class Line:
    """A record with the time its line gives; one that cannot be read takes the newest time before it."""

    record: Record
    at: datetime
    readable: bool


def in_order(lines: Iterable[Line]) -> list[Line]:
    """Sort by time; lines of the same moment stay as they stand. Files are often written one conversation after another."""
    return sorted(lines, key=lambda line: line.at)
