"""The edge that lets time pass: wakes cases whose deadline, escalation or quiet time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts.case import Advanced, advance
from alerts.ports import Clock
from alerts.time_limit import either
from monitor.changes import Paging, count_alike, decided
from monitor.errors import CaseConflict, StoreUnavailable
from monitor.reading import ORPHAN_GRACE, Reading
from monitor.store.work import Store, Wake

_log = structlog.get_logger(__name__)

POLL = timedelta(seconds=1)
SHORTEST = timedelta(milliseconds=20)
DUE_AT_ONCE = 500


class TimerObserver(Protocol):
    def advanced(self, advanced: Advanced, delay: float) -> None:
        """A case changed because time passed, ``delay`` seconds after it was due."""
        ...

    def timers_alive(self, now: datetime) -> None: ...


class Timers:
    """Run one in each process. Two that wake the same case race in the store; one wins, the other's work is void."""

    def __init__(
        self,
        store: Store,
        paging: Paging,
        reading: Reading,
        clock: Clock,
        observer: TimerObserver,
        written: Callable[[], None],
    ) -> None:
        self._store = store
        self._paging = paging
        self._reading = reading
        self._clock = clock
        self._observer = observer
        self._written = written
        self._woken = asyncio.Event()
        self._stopping = False
        self._next: datetime | None = None
        self._more = False  # due cases were left for the next round
        self._passed = 0  # due cases that are somebody else's, in the last round
        self._begun: datetime | None = None
        self._looked: datetime | None = None

    def wake(self) -> None:
        """Cases were written: the next deadline may be sooner."""
        self._woken.set()

    def stop(self) -> None:
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        while not self._stopping:
            self._woken.clear()
            try:
                await self.fire(self._clock.now())
                self._next = await self._store.next_wake()
            except StoreUnavailable:
                self._next = None
            self._observer.timers_alive(self._clock.now())
            if not self._stopping:
                await either(self._clock, self._rest(), self._woken)

    async def fire(self, now: datetime) -> int:
        """Wake every case that is due; return how many changed. One that cannot be decided stops no other."""
        self._reading.look(now)
        changed = passed = 0
        limit = DUE_AT_ONCE + self._passed  # those that were passed over come first again
        due = await self._store.due(now, limit)
        self._looked = now
        for wake in due:
            if not self._mine(wake, now):
                passed += 1
                continue  # its reader knows better whether the reply is on its way
            try:
                changed += await self._wake(wake, now)
            except CaseConflict:
                continue  # somebody was faster: their work stands
            except StoreUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - the others are due, too
                _log.error("case_not_decided", exc_info=error)
        self._more = len(due) == limit
        self._passed = passed
        return changed

    def _mine(self, wake: Wake, now: datetime) -> bool:
        """Ours to decide. A case without a reader gets its grace from our start on: the group is still forming."""
        if self._begun is None:
            self._begun = now
        return self._reading.owns(wake.partition) or now >= max(wake.at, self._begun) + ORPHAN_GRACE

    async def _wake(self, wake: Wake, now: datetime) -> bool:
        cases = await self._store.cases([wake.conversation])
        case = cases.get(wake.conversation)
        if case is None:
            return False
        advanced = advance(case, self._reading.moment(wake.partition, now), self._paging.policy)
        alike = await count_alike(self._store, [advanced], now)
        work = decided([(advanced, wake.partition)], self._paging, alike, "timer")
        await self._store.commit(work)
        if work.notifications:
            self._written()
        if advanced.happened or advanced.verdicts:
            self._observer.advanced(advanced, (self._clock.now() - wake.at).total_seconds())
        return bool(advanced.happened)

    def _rest(self) -> timedelta:
        """Until the next case is due. One that is due already could not be decided just now: it can wait."""
        now = self._clock.now()
        if self._more:
            return SHORTEST
        if self._next is None or (self._looked is not None and self._next <= self._looked):
            return POLL
        return min(POLL, max(self._next - now, SHORTEST))
