"""One absence of the database: a store, timers and a relay in memory, and pages that say so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from alerts.case import Advanced, Case
from alerts.delivery import Attempt, State
from alerts.group import Group
from alerts.page import Page
from alerts.ports import Clock, Notification, Pager
from alerts.relay import Grouping, Relay, RelayLimits, RelayObserver
from monitor.changes import Paging
from monitor.errors import StoreError
from monitor.reading import Reading
from monitor.store.memory import MemoryStore
from monitor.store.work import CaseWrite, Store, Wake, Work
from monitor.timers import Timers

T = TypeVar("T")

# Going ashore waits for requests on the way: what they bring must be known before everything is read again.
LAST_REQUESTS = timedelta(seconds=3)


class DegradedPager:
    """Says on every page that the database was away."""

    def __init__(self, pager: Pager) -> None:
        self.name = pager.name
        self._pager = pager

    async def send(self, page: Page) -> Attempt:
        return await self._pager.send(replace(page, degraded=True))

    async def close(self) -> None:
        """The pager is somebody else's to close."""


class Voyage:
    """``reading`` goes its own way from when the database was lost; ``since`` is when that was."""

    def __init__(
        self,
        cases: Sequence[CaseWrite],
        pagers: Iterable[Pager],
        paging: Paging,
        reading: Reading,
        clock: Clock,
        relay_observer: RelayObserver,
        grouping: Grouping | None = None,
    ) -> None:
        self.since = clock.now()
        self.reading = reading.fork()
        self.store = _Store(cases, self.reading)
        self.relay = Relay(
            self.store,
            [DegradedPager(pager) for pager in pagers],
            clock,
            relay_observer,
            limits=RelayLimits(shutdown=LAST_REQUESTS),
            grouping=grouping,
        )
        self.timers = Timers(self.store, paging, self.reading, clock, _Uncounted(), self.relay.wake)
        self._tasks = [asyncio.create_task(self.relay.run()), asyncio.create_task(self.timers.run())]

    def wake(self) -> None:
        """Cases were written."""
        self.relay.wake()
        self.timers.wake()

    def accepted(self) -> list[Notification]:
        """What went out, and what a page that went out tells of."""
        accepted = [note for note in self.store.rows() if note.delivery.state is State.ACCEPTED]
        told = {note.page.incident for note in accepted if note.page.group}
        return [*accepted, *(note for note in self.store.rows() if note.told_by in told)]

    def groups(self) -> list[Group]:
        """Groups whose page went out, to be written as new ones."""
        told = {note.told_by for note in self.accepted()}
        return [replace(one, version=0) for one in self.store.groups() if one.key in told]

    async def end(self) -> None:
        self.relay.stop()
        self.timers.stop()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task


class _Store(MemoryStore):
    """Keeps what decisions need, and no word longer than the batch: everything is read again (M7).

    ``behind`` is a database that takes no writes and can still be asked: cases come from there until they
    are written here. The first time it fails it is left alone, or each question would wait for its time limit.
    """

    def __init__(self, cases: Sequence[CaseWrite], reading: Reading) -> None:
        super().__init__()
        self.behind: Store | None = None
        self._reading = reading
        for write in cases:
            self._cases[write.case.conversation.key] = write

    def groups(self) -> Sequence[Group]:
        return self._grouped.groups()

    async def cases(self, conversations: Collection[str]) -> dict[str, Case]:
        if unknown := [key for key in conversations if key not in self._cases]:
            found = await self._ask(lambda store: store.cases(unknown))
            return {**(found or {}), **await super().cases(conversations)}
        return await super().cases(conversations)

    async def due(self, now: datetime, limit: int) -> Sequence[Wake]:
        """Those of our own partitions only: the others have readers who are in the same boat."""
        most = limit + len(self._cases)  # what was decided here is still due there
        for wake in await self._ask(lambda store: store.due(now, most)) or ():
            if wake.conversation not in self._cases and self._reading.owns(wake.partition):
                await self._adopt(wake)
        return await super().due(now, limit)

    async def _adopt(self, wake: Wake) -> None:
        for key, case in (await self._ask(lambda store: store.cases([wake.conversation])) or {}).items():
            self._cases.setdefault(key, CaseWrite(case, wake.partition, wake.at))

    async def _ask(self, question: Callable[[Store], Awaitable[T]]) -> T | None:
        if self.behind is None:
            return None
        try:
            return await question(self.behind)
        except StoreError:
            self.behind = None
            return None

    def _version(self, write: CaseWrite) -> int:
        """A case that was read from behind is written here first under the version it has there."""
        key = write.case.conversation.key
        return self._cases[key].case.version if key in self._cases else write.case.version

    async def commit(self, work: Work) -> None:
        await super().commit(replace(work, findings=(), audit=(), excerpts=(), dead_letters=()))


class _Uncounted:
    """Decisions are counted when they are written."""

    def advanced(self, advanced: Advanced, delay: float) -> None:
        """See above."""

    def timers_alive(self, now: datetime) -> None:
        """The others' signs of life are watched."""
