"""Workers over real databases in time that is made up: it goes on only when nobody is at work.

So a test of deadlines measures what the product waits for, and not how busy the machine is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from monitor.clock import SteadyClock
from monitor.store.sql import SqlStore
from tests.support.fake_clock import FakeClock, settle

LOOK = 0.0005  # seconds between looks at who is at work


class BusyStore:
    """A store that tells how many of its operations are under way."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.busy = 0

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._store, name)

        async def counted(*args: Any, **facts: Any) -> Any:
            self.busy += 1
            try:
                return await operation(*args, **facts)
            finally:
                self.busy -= 1

        return counted


class SimulatedClock(SteadyClock):
    """That of a machine whose wall clock is ``wrong()`` seconds off real time, which ``fake`` tells."""

    def __init__(self, fake: FakeClock, wrong: Callable[[], float]) -> None:
        super().__init__(lambda: fake.now().timestamp() + wrong(), lambda: fake.now().timestamp() - 1e9)
        self._fake = fake

    async def sleep(self, duration: timedelta) -> None:
        await self._fake.sleep(duration)


async def quiet(store: BusyStore) -> None:
    """Return once nobody works, and nothing will happen before time goes on."""
    await settle()
    while store.busy:
        await asyncio.sleep(LOOK)
        await settle()


async def pass_time(fake: FakeClock, store: BusyStore, until: datetime) -> None:
    """From sleeper to sleeper; each does its work before time goes on."""
    await quiet(store)
    while (pending := [at for at, _, future in fake._sleepers if not future.done()]) and min(
        pending
    ) <= until:
        await fake.advance_to(max(min(pending), fake.now()))
        await quiet(store)
    await fake.advance_to(until)
    await quiet(store)
