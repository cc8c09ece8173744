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
from alerts.ports import Clock, Decide, Notification, Pager
from alerts.relay import Grouping, Relay, RelayLimits, RelayObserver
from alerts.storm import Admitted
from monitor.changes import Paging
from monitor.errors import StoreError
from monitor.reading import Reading
from monitor.store.memory import MemoryStore
from monitor.store.work import CaseWrite, Store, Wake, Work
from monitor.timers import Timers

T = TypeVar("T")

# Going ashore waits for requests on the way: what they bring must be known before everything is read again.
LAST_REQUESTS = timedelta(seconds=3)
ASHORE = timedelta(minutes=2)  # until a group's keeper looks: whoever it tells of is read again meanwhile


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
        self.store = _Store(cases, self.reading, clock)
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
        """What went out, and what a page that went out, or that is written down to leave yet, tells of."""
        accepted = [note for note in self.store.rows() if note.delivery.state is State.ACCEPTED]
        told = {row for key in self._rung() for row in self.store.told(key, all_of_it=bool(self._calls(key)))}
        return [*accepted, *(note for note in self.store.rows() if note.id in told)]

    def told(self) -> list[Notification]:
        """What was accepted, each up to the newest crisis turn that it speaks of.

        Whoever rings already is not rung for again: a call speaks of all that was judged here after it, too.
        """
        cases = {case.incident.key: case for case in self.store.all_cases() if case.incident is not None}
        return [_up_to(note, cases.get(note.page.incident)) for note in self.accepted()]

    def groups(self) -> Work:
        """Groups whose page went out, to be written as new ones, in one piece with the rows of whoever they tell of.

        A repeat is not among these rows: what nobody answered may be due again when everything is read again.
        """
        rung, now = self._rung(), self.store.clock.now()
        accepted = self.accepted()
        pages = [note for note in accepted if note.page.group and note.page.incident in rung]
        carried = [note for note in accepted if note.told_by in rung and note.page.step == 0]
        written = []
        for group in self.store.groups():
            if group.key not in rung:
                continue
            incidents = {note.page.incident for note in carried if note.told_by == group.key}
            count = len(incidents) or group.count
            told = 0 if self._calls(group.key) else min(group.told or count, count)
            new = replace(group, version=0, count=count, told=told, ashore_at=now, look_at=now + ASHORE)
            written.append(new)
        calls = [call for key in rung for call in self._calls(key)]
        return Work(groups=written, notifications=[*pages, *calls, *carried])

    def _rung(self) -> list[str]:
        """Keys of groups whose page went out."""
        rows = self.store.rows()
        rung = [row.page.incident for row in rows if row.page.group and row.delivery.state is State.ACCEPTED]
        return list(dict.fromkeys(rung))

    def _calls(self, group: str) -> list[Notification]:
        """Its calls that nobody has accepted yet."""
        rows = [row for row in self.store.rows() if row.page.incident == group]
        return [row for row in rows if not row.delivery.state.final]

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

    def __init__(self, cases: Sequence[CaseWrite], reading: Reading, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self._carried: dict[str, list[str]] = {}  # ids of rows by group, in the order in which they joined
        self._said: dict[str, int] = {}  # how many of them the newest request of a group's row told of
        self.behind: Store | None = None
        self._reading = reading
        for write in cases:
            self._cases[write.case.conversation.key] = write

    def groups(self) -> Sequence[Group]:
        return self._grouped.groups()

    def all_cases(self) -> list[Case]:
        return [write.case for write in self._cases.values()]

    def told(self, group: str, *, all_of_it: bool) -> list[str]:
        """Ids of the rows that a page of this group told of before they came to be here."""
        carried = self._carried.get(group, [])
        accepted = [row for row in self.rows() if row.delivery.state is State.ACCEPTED]
        said = [self._said.get(row.id, 0) for row in accepted if row.page.incident == group]
        return carried if all_of_it else carried[: max(said, default=0)]

    async def admit(self, rows: Sequence[Notification], now: datetime, decide: Decide) -> Admitted:
        admitted = await super().admit(rows, now, decide)
        for row in admitted.send:  # each was put into words before anything joined
            self._said[row.id] = len(self._carried.get(row.page.incident, ()))
        for changed in admitted.changed:
            if changed.told_by is not None:
                self._carried.setdefault(changed.told_by, []).append(changed.row.id)
        return admitted

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
        await super().commit(replace(work, findings=(), audit=(), excerpts=(), dead_letters=(), tally=None))


def _up_to(note: Notification, case: Case | None) -> Notification:
    if case is None:
        return note
    known = case.known
    judged = {event for event, fact in known.items() if fact.severity and fact.outcome is not None}
    newest = [entry.at for entry in case.conversation.entries if entry.event in judged]
    return replace(note, page=replace(note.page, since=max([note.page.since, *newest])))


class _Uncounted:
    """Decisions are counted when they are written."""

    def advanced(self, advanced: Advanced, delay: float) -> None:
        """See above."""

    def timers_alive(self, now: datetime) -> None:
        """The others' signs of life are watched."""
