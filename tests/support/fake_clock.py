"""A clock that stands still until a test moves it. Sleepers wake in order, each at its own time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
_MOST_ROUNDS = 10_000


class FakeClock:
    """An ``alerts.ports.Clock``.

    ``advance`` moves time from sleeper to sleeper: whoever wakes runs, and may sleep again, before time goes
    on. So a loop that sleeps a second runs ten times in ``advance(timedelta(seconds=10))``, and what it reads
    from ``now()`` is the second it woke at. It works for code that waits for this clock, for events, queues
    and tasks; for real sockets, threads and databases give ``settle`` something to wait for (see
    ``tests.support.until``).
    """

    def __init__(self, start: datetime = EPOCH) -> None:
        self._now = start
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> datetime:
        return self._now

    @property
    def sleepers(self) -> int:
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, duration: timedelta) -> None:
        if duration <= timedelta(0):
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + duration, next(self._order), future))
        await future

    async def advance(self, duration: timedelta) -> None:
        await self.advance_to(self._now + duration)

    async def advance_to(self, target: datetime) -> None:
        assert target >= self._now, "time does not go back"
        await settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            at, _, future = heapq.heappop(self._sleepers)
            if future.done():  # its sleeper was cancelled
                continue
            self._now = max(self._now, at)
            future.set_result(None)
            await settle()
        self._now = target
        await settle()

    async def advance_until(self, condition: Callable[[], bool], within: timedelta) -> timedelta:
        """Move from sleeper to sleeper until the condition holds; return how long that took on this clock."""
        start = self._now
        await settle()
        while not condition():
            pending = [at for at, _, future in self._sleepers if not future.done()]
            assert pending, "nobody sleeps any more, so it will never happen"
            assert min(pending) - start <= within, f"did not happen within {within}"
            await self.advance_to(min(pending))
        return self._now - start

    def jump(self, duration: timedelta) -> None:
        """Set the clock without waking anybody, as a stalled process sees it."""
        self._now += duration


async def settle() -> None:
    """Let everything run that can run without time passing."""
    loop = asyncio.get_running_loop()
    for _ in range(_MOST_ROUNDS):
        await asyncio.sleep(0)
        if not loop._ready:  # type: ignore[attr-defined]  # the one way to know that nothing is left to run
            return
    raise AssertionError("something runs for ever without waiting for time to pass")
