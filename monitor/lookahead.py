"""Event time for a replay: a clock that events move, and the lines that are known to come."""

from __future__ import annotations

from collections import deque
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


class LookAhead:
    """Lines that were read and not yet played, in order, and the earliest time among them."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque()
        self._rising: deque[datetime] = deque()  # the earliest of all, then the earliest after it, and so on

    def __len__(self) -> int:
        return len(self._lines)

    def push(self, line: Line) -> None:
        self._lines.append(line)
        while self._rising and self._rising[-1] > line.at:
            self._rising.pop()
        self._rising.append(line.at)

    @property
    def first(self) -> Line:
        return self._lines[0]

    @property
    def earliest(self) -> datetime:
        return self._rising[0]

    def pop(self) -> Line:
        line = self._lines.popleft()
        if self._rising[0] == line.at:
            self._rising.popleft()
        return line
