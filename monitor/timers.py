"""The edge that lets time pass: wakes cases whose deadline, escalation or quiet time has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts.case import Advanced, Case, advance
from alerts.ports import Clock
from alerts.time_limit import either
from monitor.changes import Paging, count_alike, decided
from monitor.errors import CaseConflict, StoreUnavailable
from monitor.observing import observing
from monitor.ports import Lifeboat
from monitor.reading import ORPHAN_GRACE, Reading
from monitor.store.work import Store, Wake
from monitor.tallying import Tallying
from monitor.unreadable import instead_of

_log = structlog.get_logger(__name__)

POLL = timedelta(seconds=1)
SHORTEST = timedelta(milliseconds=20)
DUE_AT_ONCE = 500
TOGETHER = 50  # cases written in one transaction: a hundred deadlines a second are no more work than a few


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
        tallying: Tallying | None = None,
        lifeboat: Lifeboat | None = None,
    ) -> None:
        self._store = store
        self._paging = paging
        self._reading = reading
        self._clock = clock
        self._observer = observer
        self._written = written
        self._tallying = tallying
        self._lifeboat = lifeboat
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
            with observing():
                self._observer.timers_alive(self._clock.now())
            if not self._stopping:
                await either(self._clock, self._rest(), self._woken)

    async def fire(self, now: datetime) -> int:
        """Wake every case that is due; return how many changed. One that cannot be decided stops no other."""
        self._reading.look(now)
        if self._lifeboat is not None and self._lifeboat.aboard:
            return 0
        changed = passed = 0
        limit = DUE_AT_ONCE + self._passed  # those that were passed over come first again
        due = await self._store.due(now, limit)
        self._looked = now
        mine = []
        for wake in due:
            if self._mine(wake, now):
                mine.append(wake)
            else:
                passed += 1  # its reader knows better whether the reply is on its way
        for start in range(0, len(mine), TOGETHER):
            changed += await self._wake(mine[start : start + TOGETHER], now)
        self._more = len(due) == limit
        self._passed = passed
        return changed

    def _mine(self, wake: Wake, now: datetime) -> bool:
        """Ours to decide. A case without a reader gets its grace from our start on: the group is still forming."""
        if self._begun is None:
            self._begun = now
        return self._reading.owns(wake.partition) or now >= max(wake.at, self._begun) + ORPHAN_GRACE

    async def _wake(self, wakes: Sequence[Wake], now: datetime) -> int:
        """Many in one transaction; each by itself where that fails, so that one stops no other."""
        try:
            return await self._decide(wakes, now)
        except StoreUnavailable:
            raise
        except CaseConflict:
            if len(wakes) == 1:
                return 0  # somebody was faster: their work stands
        except Exception as error:  # noqa: BLE001 - the others are due, too
            if len(wakes) == 1:
                _log.error("case_not_decided", exc_info=error)
                return 0
        return sum([await self._wake([wake], now) for wake in wakes])

    async def _decide(self, wakes: Sequence[Wake], now: datetime) -> int:
        cases = await self._store.cases([wake.conversation for wake in wakes])
        known = [(wake, cases[wake.conversation]) for wake in wakes if wake.conversation in cases]
        if not known:
            return 0
        results = [(self._advanced(wake, case, now), wake) for wake, case in known]
        alike = await count_alike(self._store, [advanced for advanced, _ in results], now)
        pairs = [(advanced, wake.partition) for advanced, wake in results]
        work = decided(pairs, self._paging, alike, "timer")
        if self._tallying is not None:
            work = replace(work, tally=self._tallying.of_decisions([one for one, _ in results], now))
        try:
            await self._store.commit(work)
        except StoreUnavailable:
            if self._lifeboat is not None:
                await self._lifeboat.take_over(work)
            raise
        if self._lifeboat is not None:
            self._lifeboat.keep(pairs)
        if work.notifications:
            self._written()
        for advanced, wake in results:
            if advanced.happened or advanced.verdicts or advanced.begun_anew:
                with observing():
                    self._observer.advanced(advanced, (self._clock.now() - wake.at).total_seconds())
        return sum(bool(advanced.happened) for advanced, _ in results)

    def _advanced(self, wake: Wake, case: Case, now: datetime) -> Advanced:
        moment, policy = self._reading.moment(wake.partition, now), self._paging.policy
        try:
            return advance(case, moment, policy)
        except Exception as error:  # noqa: BLE001 - its time has come, whatever is wrong with it
            return advance(instead_of(case, error, now, policy), moment, policy)

    def _rest(self) -> timedelta:
        """Until the next case is due. One that is due already could not be decided just now: it can wait."""
        now = self._clock.now()
        if self._more:
            return SHORTEST
        if self._next is None or (self._looked is not None and self._next <= self._looked):
            return POLL
        return min(POLL, max(self._next - now, SHORTEST))
