"""While the database is away: read on, decide in memory, and page without it (DESIGN §2, fail open).

Nothing is committed meanwhile. When the database is back, the source goes back to the positions that stand
there and everything is read again; what went out in the meantime is marked as accepted, not sent twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import timedelta

import structlog

from alerts.delivery import Attempt, Delivery, State
from alerts.page import Page
from alerts.ports import Clock, Notification, Pager
from alerts.relay import Relay, RelayObserver
from monitor.changes import Paging
from monitor.errors import StoreError
from monitor.pipeline import BatchResult, Read, Through
from monitor.reading import Reading
from monitor.store.memory import MemoryStore
from monitor.store.work import CaseWrite, Store, Work
from monitor.timers import TimerObserver, Timers

_log = structlog.get_logger(__name__)

REMEMBERED = 10_000  # cases kept at hand: more than are ever in a crisis at once
SETTLED = 100_000  # ids of notifications that went out without the database
PROBE = timedelta(seconds=1)


class DegradedPager:
    """Says on every page that the database was away."""

    def __init__(self, pager: Pager) -> None:
        self.name = pager.name
        self._pager = pager

    async def send(self, page: Page) -> Attempt:
        return await self._pager.send(replace(page, degraded=True))

    async def close(self) -> None:
        """The pager is somebody else's to close."""


class Lifeboat:
    def __init__(
        self,
        *,
        store: Store,
        pagers: Iterable[Pager],
        paging: Paging,
        reading: Reading,
        clock: Clock,
        relay_observer: RelayObserver,
        timer_observer: TimerObserver,
        rewind: Callable[[], Awaitable[None]],
        up: Callable[[bool], None],
    ) -> None:
        self._store = store
        self._pagers = [DegradedPager(pager) for pager in pagers]
        self._paging = paging
        self._reading = reading
        self._clock = clock
        self._relay_observer = relay_observer
        self._timer_observer = timer_observer
        self._rewind = rewind
        self._up = up
        self._recent: OrderedDict[str, CaseWrite] = OrderedDict()
        self._settled: OrderedDict[str, Delivery] = OrderedDict()
        self._voyage: _Voyage | None = None

    @property
    def aboard(self) -> bool:
        return self._voyage is not None

    def remember(self, result: BatchResult) -> None:
        """Keep the newest state of cases at hand, for the day the database cannot be asked."""
        for case in result.cases:
            key = case.advanced.case.conversation.key
            write = CaseWrite(case.advanced.case, result.read.partition_of[key], case.advanced.wake_at)
            self._recent[key] = write
            self._recent.move_to_end(key)
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def settle(self, notifications: list[Notification]) -> list[Notification]:
        """Mark those that went out while the database was away as accepted."""
        return [
            replace(note, delivery=self._settled[note.id]) if note.id in self._settled else note
            for note in notifications
        ]

    async def take(self, read: Read, through: Through) -> None:
        """Decide about a batch without the database."""
        voyage = await self.board()
        await through(voyage.store, replace(read, reached={}, dead=()))
        voyage.relay.wake()
        voyage.timers.wake()

    async def board(self) -> _Voyage:
        if self._voyage is None:
            _log.error("database_away")
            self._up(False)
            memory = MemoryStore()
            seeds = [replace(w, case=replace(w.case, version=0)) for w in self._recent.values()]
            await memory.commit(Work(cases=seeds))
            relay = Relay(memory, self._pagers, self._clock, self._relay_observer)
            timers = Timers(
                memory, self._paging, self._reading, self._clock, self._timer_observer, relay.wake
            )
            self._voyage = _Voyage(memory, relay, timers)
        return self._voyage

    async def run(self) -> None:
        """Look out for the database, and go back ashore when it answers."""
        while True:
            await self._clock.sleep(PROBE)
            try:
                await self._store.ping()
            except StoreError:
                await self.board()
                continue
            if self._voyage is not None:
                await self._ashore(self._voyage)

    async def close(self) -> None:
        if self._voyage is not None:
            await self._voyage.end()

    async def _ashore(self, voyage: _Voyage) -> None:
        for note in voyage.store.notifications():
            if note.delivery.state is State.ACCEPTED:
                self._settled[note.id] = note.delivery
        while len(self._settled) > SETTLED:
            self._settled.popitem(last=False)
        try:
            await self._rewind()
        except StoreError:
            return
        await voyage.end()
        self._voyage = None
        self._up(True)
        _log.warning("database_back", sent_meanwhile=len(self._settled))


class _Voyage:
    """One absence of the database: a store, timers and a relay in memory."""

    def __init__(self, store: MemoryStore, relay: Relay, timers: Timers) -> None:
        self.store = store
        self.relay = relay
        self.timers = timers
        self._tasks = [asyncio.create_task(relay.run()), asyncio.create_task(timers.run())]

    async def end(self) -> None:
        self.relay.stop()
        self.timers.stop()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
