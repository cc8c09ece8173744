"""While the database is away: read on, decide in memory, and page without it (DESIGN §2, fail open).

Nothing is committed meanwhile. When the database is back, the source goes back to the positions that stand
there and everything is read again; what went out in the meantime is marked as accepted, not sent twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

import structlog

from alerts.case import Advanced, incident_key
from alerts.ports import Clock, Notification, Pager
from alerts.relay import Grouping, RelayObserver
from monitor.batch import BatchResult, Read
from monitor.changes import Paging, wake_of
from monitor.errors import JiezhuError, StoreError, StoreUnavailable, StoreUnwritable
from monitor.ports import Through
from monitor.reading import Reading
from monitor.recent import RecentCases
from monitor.settled import Settled
from monitor.store.work import CaseWrite, Partition, Store, Work
from monitor.voyage import Voyage

_log = structlog.get_logger(__name__)

REMEMBERED = 5_000  # cases kept at hand: more than are ever in a crisis at once
SETTLED = 100_000  # ids of notifications that went out without the database
PROBE = timedelta(seconds=1)
# Open cases are looked at anew: timers, people and other workers move them, too.
REFRESH = timedelta(seconds=5)
SOON = timedelta(minutes=10)  # whose time comes later is not asked about
OPEN_CASES = 200
# A database that answers and then fails again is trusted later each time.
LONGEST_STAY = timedelta(minutes=1)
RELAPSE = timedelta(seconds=15)


class Sight(StrEnum):
    """What the lookout sees of the database."""

    STANDS = "stands"
    BUSY = "busy"  # a long write of somebody else's: no absence while nothing is due, but nobody goes ashore into it
    UNWRITABLE = "unwritable"  # a full disk answers every question, and no deadline could be decided
    AWAY = "away"


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
        rewind: Callable[[], Awaitable[None]],
        up: Callable[[bool], None],
        looked: Callable[[datetime], None] = lambda _: None,
        grouping: Grouping | None = None,
    ) -> None:
        self._store = store
        self._pagers = list(pagers)
        self._paging = paging
        self._reading = reading
        self._clock = clock
        self._relay_observer = relay_observer
        self._rewind = rewind
        self._up = up
        self._looked = looked
        self._recent = RecentCases(REMEMBERED)
        self._grouping = grouping
        self._unwritten: list[Work] = []  # groups that were made while the database was away
        self._rewind_owed = False
        self._refreshed: datetime | None = None
        self._settled = Settled(SETTLED)
        self._voyage: Voyage | None = None
        self._stay = PROBE
        self._ashore_at: datetime | None = None

    @property
    def aboard(self) -> bool:
        return self._voyage is not None

    def remember(self, result: BatchResult) -> None:
        """A batch is in the database."""
        partition_of = result.read.partition_of
        cases = [case.advanced for case in result.cases]
        self.keep((advanced, partition_of[advanced.case.conversation.key]) for advanced in cases)

    def keep(self, written: Iterable[tuple[Advanced, Partition]]) -> None:
        """Keep the newest state of cases at hand, for the day the database cannot be asked."""
        for advanced, partition in written:
            stands = replace(advanced.case, version=advanced.case.version + 1)
            self._recent.keep(CaseWrite(stands, partition, wake_of(advanced)))

    def forget(self, pseudonyms: Collection[str]) -> None:
        """Nothing of these conversations stays in memory; what is open of them is read again from the database."""
        for key in pseudonyms:
            self._recent.forget(key)
        starts = tuple(incident_key(key, 0).removesuffix("0") for key in pseudonyms)
        self._settled.forget(starts)
        self._unwritten = [
            replace(work, notifications=[one for one in work.notifications if not one.id.startswith(starts)])
            for work in self._unwritten
        ]

    def settle(self, notifications: list[Notification]) -> list[Notification]:
        """Mark those that went out while the database was away as accepted, unless they are due all the same."""
        return [self._settled.as_it_stands(note) for note in notifications]

    async def take(self, read: Read, through: Through, *, readable: bool | None = None) -> None:
        """Decide about a batch without the database; see ``_embark``. None: as it was last seen."""
        voyage = self.board() if readable is None else await self._embark(readable=readable)
        self._reading.go_ahead(read.reached)
        await through(voyage.store, replace(read, reached={}, dead=()), voyage.reading)
        voyage.reading.seen(read.newest, self._clock.now())
        voyage.wake()

    async def take_over(self, work: Work) -> None:
        """Tell what time alone has decided and the database, though it can be asked, would not take.

        No batch need come that would show it, and a probe cannot tell it from somebody else's long write. What is
        told is what was decided, not what is read now: a commit that was given up may stand all the same, and
        its case then looks as if somebody had been rung.
        """
        if self._voyage is None:
            voyage = await self._embark(readable=True)
            await voyage.store.commit(Work(notifications=work.notifications))
            voyage.wake()

    def board(self) -> Voyage:
        if self._voyage is None:
            _log.error("database_away")
            self._up(False)
            now = self._clock.now()
            again = self._ashore_at is not None and now - self._ashore_at < RELAPSE
            self._stay = min(self._stay * 2, LONGEST_STAY) if again else PROBE
            self._voyage = Voyage(
                [write for write in self._recent if self._reading.owns(write.partition)],
                self._pagers,
                self._paging,
                self._reading,
                self._clock,
                self._relay_observer,
                self._grouping,
            )
        return self._voyage

    async def run(self) -> None:
        """Look out for the database, and go back ashore when it answers."""
        while True:
            self._looked(self._clock.now())
            await self._clock.sleep(PROBE)
            sight = await self._look_out()
            if sight in (Sight.AWAY, Sight.UNWRITABLE) or (sight is Sight.BUSY and self.aboard):
                await self._embark(readable=sight is not Sight.AWAY)
            elif self._voyage is None:
                if self._rewind_owed:
                    await self._go_back()
                await self._keep_up()
            elif sight is Sight.STANDS and self._clock.now() - self._voyage.since >= self._stay:
                await self._ashore(self._voyage)

    async def close(self) -> None:
        if self._voyage is not None:
            await self._voyage.end()

    async def _look_out(self) -> Sight:
        try:
            await self._store.ping()
        except StoreError:
            return Sight.AWAY
        try:
            await self._store.probe(self._clock.now())
        except StoreUnwritable:
            return Sight.UNWRITABLE
        except StoreError:
            return Sight.BUSY
        return Sight.STANDS

    async def _embark(self, *, readable: bool) -> Voyage:
        """``readable``: what stands in the database can be asked for, so nothing is decided without it."""
        if readable and self._voyage is None:
            with contextlib.suppress(JiezhuError):
                await self._refresh(self._clock.now())
        voyage = self.board()
        voyage.store.behind = self._store if readable else None
        return voyage

    async def _keep_up(self) -> None:
        """Bring open cases up to date, so that nobody is rung for what was answered since."""
        now = self._clock.now()
        if self._refreshed is not None and now - self._refreshed < REFRESH:
            return
        self._refreshed = now
        try:
            await self._write_groups()
            await self._refresh(now)
        except StoreUnavailable:
            self.board()
        except JiezhuError as error:
            _log.warning("refresh_failed", exc_info=error)

    async def _write_groups(self) -> None:
        while self._unwritten:
            await self._store.commit(self._unwritten[0])
            del self._unwritten[0]

    async def _refresh(self, now: datetime) -> None:
        due = await self._store.due(now + SOON, OPEN_CASES)
        wakes = {wake.conversation: wake for wake in due if self._reading.owns(wake.partition)}
        soon = [
            write.case.conversation.key
            for write in self._recent.waiting()
            if write.wake_at is not None and write.wake_at <= now + SOON
        ][-OPEN_CASES:]
        for key, case in (await self._store.cases({*wakes, *soon})).items():
            wake, known = wakes.get(key), self._recent.get(key)
            if known is not None and known.case.version > case.version:
                continue
            partition = wake.partition if wake else known.partition if known else None
            if partition is not None:
                self._recent.keep(
                    CaseWrite(case, partition, wake.at if wake else self._later(known, len(due)))
                )

    @staticmethod
    def _later(known: CaseWrite | None, due: int) -> datetime | None:
        """A case that is not among those due soon has nothing to wait for, unless not all of them were told."""
        return known.wake_at if known is not None and due >= OPEN_CASES else None

    async def _ashore(self, voyage: Voyage) -> None:
        await voyage.end()
        told = voyage.told()
        self._settled.keep(told)
        if (work := voyage.groups()).groups:
            self._unwritten.append(work)
        self._voyage = None
        self._ashore_at = self._clock.now()
        self._up(True)
        _log.warning("database_back", sent_meanwhile=len(told))
        self._rewind_owed = True
        try:
            await self._write_groups()
        except StoreError as error:
            _log.warning("groups_not_written", exc_info=error)  # ``_keep_up`` tries again
        await self._go_back()

    async def _go_back(self) -> None:
        """What was read ahead is read again, whatever else fails: until then nothing there falls due."""
        try:
            await self._rewind()
        except StoreError as error:
            _log.warning("rewind_failed", exc_info=error)
        else:
            self._rewind_owed = False
