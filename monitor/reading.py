"""How far each partition has been read: the position, the watermark, and whether we have caught up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

from alerts.moment import Moment
from monitor.own_clock import OwnClock
from monitor.store.work import Partition

# A producer's clock that runs ahead must not make deadlines fall early.
CLOCK_AHEAD = timedelta(seconds=2)
# Events younger than this are live traffic, whatever the lag says.
LIVE_AGE = timedelta(seconds=5)
# What comes so soon after we had read everything has not waited for us.
JUST_NOW = timedelta(seconds=5)
# A case whose partition nobody here reads is decided by the clock, so much later: its reader may be dead. So is one whose
# partition is ours and stuck: nobody else takes it, and what would say that it was read past the deadline is not read.
ORPHAN_GRACE = timedelta(seconds=15)


class Reading:
    """One a worker. ``positions`` are the next offsets that are safely in the database.

    ``caught_up`` asks the source whether everything that was in a partition has been handled, ``stuck`` since when
    nothing of it can be handled (it is held, or its batches fail; None while it is read, however slowly). A partition is
    *ahead* while the source has read beyond what the database knows: then neither the source nor the clock
    can say that silence is silence, because a reply may stand in what will be read again.
    """

    def __init__(
        self,
        caught_up: Callable[[Partition], bool] = lambda _: False,
        stuck: Callable[[Partition], datetime | None] = lambda _: None,
    ) -> None:
        self.positions: dict[Partition, int] = {}
        self.caught_up = caught_up
        self.stuck = stuck
        self._watermarks: dict[Partition, datetime] = {}
        self._ahead: set[Partition] = set()
        self._empty: dict[Partition, datetime] = {}  # when everything had been read, last
        self._clocks: dict[Partition, OwnClock] = {}
        self._read_to: dict[Partition, datetime] = {}  # watermarks by our clock

    def assigned(self, positions: Mapping[Partition, int]) -> None:
        """Reading goes on from here. What was read beyond, in memory, says nothing any more."""
        for partition in positions:
            self._watermarks.pop(partition, None)
            self._read_to.pop(partition, None)
            self._empty.pop(partition, None)
        self._ahead.difference_update(positions)
        self.positions.update(positions)

    def revoked(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self.positions.pop(partition, None)
            self._watermarks.pop(partition, None)
            self._read_to.pop(partition, None)
            self._clocks.pop(partition, None)
            self._empty.pop(partition, None)
            self._ahead.discard(partition)

    def written(
        self, reached: Mapping[Partition, int], newest: Mapping[Partition, datetime], now: datetime
    ) -> None:
        """A batch is safe. Not before: a timer must not take a reply that is still in hand for silence."""
        self.positions.update(reached)
        self.seen(newest, now)

    def seen(self, newest: Mapping[Partition, datetime], now: datetime) -> None:
        """Turns up to these times have been folded."""
        for partition, at in newest.items():
            if self.live(partition, now):
                self._clocks.setdefault(partition, OwnClock()).heard(now - at, now)
            by_ours = self._by_ours(partition, at, now)
            self._read_to[partition] = max(self._read_to.get(partition, by_ours), by_ours)
            mark = min(at, now + CLOCK_AHEAD)
            self._watermarks[partition] = max(self._watermarks.get(partition, mark), mark)

    def look(self, now: datetime) -> None:
        """Call once a second: note which partitions are read to their end."""
        for partition in self.positions:
            if partition not in self._ahead and self.caught_up(partition):
                self._empty[partition] = now

    def live(self, partition: Partition, now: datetime) -> bool:
        """Whether what is read now came just now: there was nothing else a moment ago."""
        empty = self._empty.get(partition)
        return empty is not None and now - empty <= JUST_NOW

    def go_ahead(self, partitions: Iterable[Partition]) -> None:
        """These were read on without the database."""
        self._ahead.update(partitions)

    def ahead(self, partitions: Collection[Partition]) -> frozenset[Partition]:
        return frozenset(self._ahead.intersection(partitions))

    def moment(self, partition: Partition, now: datetime, newest: datetime | None = None) -> Moment:
        """Return the time for a decision about a case of ``partition``; one that is not ours counts as read.

        ``newest``: of the batch that the decision is made for.
        """
        if not self.owns(partition):
            return Moment(now)
        if partition in self._ahead:
            return Moment(now, None, caught_up=False)
        marks = [self._watermarks.get(partition), newest and min(newest, now + CLOCK_AHEAD)]
        watermark = max((mark for mark in marks if mark is not None), default=None)
        real = [self._read_to.get(partition), newest and self._by_ours(partition, newest, now)]
        read_to = max((mark for mark in real if mark is not None), default=None)
        live = watermark is not None and now - watermark <= LIVE_AGE
        caught_up = live or self.caught_up(partition) or self._given_up(partition, now)
        return Moment(now, watermark, caught_up=caught_up, read_to=read_to)

    def _given_up(self, partition: Partition, now: datetime) -> bool:
        since = self.stuck(partition)
        return since is not None and now - since >= ORPHAN_GRACE

    def _by_ours(self, partition: Partition, at: datetime, now: datetime) -> datetime:
        clock = self._clocks.get(partition)
        return min(at if clock is None else clock.by_ours(at, now), now + CLOCK_AHEAD)

    def read_to_end(self, now: datetime) -> frozenset[Partition]:
        """Our partitions in which nothing waits for us."""
        return frozenset(partition for partition in self.positions if self.moment(partition, now).caught_up)

    def owns(self, partition: Partition) -> bool:
        return partition in self.positions

    def fork(self) -> Reading:
        """The same reading, going its own way from here on: what is seen without the database stays apart."""
        other = Reading(self.caught_up, self.stuck)
        other.positions = self.positions
        other._watermarks = dict(self._watermarks)
        other._empty = self._empty
        other._clocks = self._clocks
        other._read_to = dict(self._read_to)
        return other
