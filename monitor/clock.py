"""The clock at the edges. Inside, time is an argument."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import structlog

_log = structlog.get_logger(__name__)

JUMP = 1.0  # seconds by which a clock may differ from one look to the next; drift and small corrections are far less
# No deadline comes early because somebody set a clock: while time is brought in line, one of a minute comes 0.1 s early or
# late at most. A minute takes eight hours, an hour three weeks: whoever is so far off is told (``JiezhuClockApart``).
SLEW = 0.002


def elapsed() -> float:
    """Seconds that nobody sets. On Linux a suspended machine's time counts, too."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SystemClock:
    """The machine's own, whatever it says: for commands, which take a moment."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(duration.total_seconds(), 0))


class SteadyClock:
    """Time that never goes back and never leaps, for a process that decides about deadlines.

    It goes on with ``elapsed`` from where it began, and is drawn slowly to the time that counts: the database's, which all
    workers share, or without one the machine's (``wall``, seconds since the epoch). A clock that is set an hour forward
    thus makes no deadline fall early, and one that is set back makes none fall an hour late. Each jump is logged as
    ``clock_jumped``. Threads may ask it.
    """

    def __init__(self, wall: Callable[[], float] = time.time, elapsed: Callable[[], float] = elapsed) -> None:
        self._wall = wall
        self.elapsed = elapsed
        self._lock = threading.Lock()
        self._last = elapsed()
        self._machine = wall() - self._last  # offsets: what is added to ``elapsed``
        self._shared: float | None = None
        self._offset = self._machine

    def now(self) -> datetime:
        with self._lock:
            return datetime.fromtimestamp(self._tick() + self._offset, UTC)

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(duration.total_seconds(), 0))

    @property
    def offset(self) -> float:
        """What this clock adds to ``elapsed``: with it another process of this machine can go on in its time."""
        return self._offset

    def begin_at(self, offset: float) -> None:
        """Go by this time from now on. For the start, before anything is decided."""
        with self._lock:
            self._offset = offset

    def heard(self, at: datetime, when: float) -> None:
        """The database said ``at`` when ``elapsed`` stood at ``when``."""
        with self._lock:
            offset = at.timestamp() - when
            if self._shared is None:
                _log.info("clock_shared", apart=round(self._machine - offset, 3))
            self._notice(self._shared, offset, "database")
            self._shared = offset

    def forward(self, at: datetime, when: float) -> None:
        """As ``heard``, and leap there, as this machine stood still while time went on. Never back."""
        with self._lock:
            self._shared = at.timestamp() - when
            self._offset = max(self._offset, self._shared)

    def at(self, when: float) -> datetime:
        """What this clock says, or said a moment ago, when ``elapsed`` stands at ``when``."""
        with self._lock:
            self._tick()
            return datetime.fromtimestamp(when + self._offset, UTC)

    @property
    def ahead_of_machine(self) -> float:
        """Seconds, below 0 if behind."""
        return self._offset - self._machine

    def _tick(self) -> float:
        stands = self.elapsed()
        passed = max(stands - self._last, 0.0)
        self._last = max(stands, self._last)
        machine = self._wall() - stands
        self._notice(self._machine, machine, "machine")
        self._machine = machine
        away = (self._shared if self._shared is not None else machine) - self._offset
        most = passed * SLEW
        self._offset += max(-most, min(away, most))
        return self._last

    @staticmethod
    def _notice(before: float | None, offset: float, clock: str) -> None:
        if before is not None and abs(offset - before) >= JUMP:
            _log.warning("clock_jumped", clock=clock, seconds=round(offset - before, 3))
