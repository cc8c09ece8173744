"""How far each partition has been read: the position, the watermark, and whether we have caught up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from alerts.moment import Moment
from detectors.turn import Turn
from monitor.store.work import Partition

# A producer's clock that runs ahead must not make deadlines fall early.
CLOCK_AHEAD = timedelta(seconds=2)
# Events younger than this are live traffic, whatever the lag says.
LIVE_AGE = timedelta(seconds=5)
# A case whose partition nobody here reads is decided by the clock, so much later: its reader may be dead.
ORPHAN_GRACE = timedelta(seconds=15)


class Reading:
    """One a worker. ``positions`` are the next offsets that are safely in the database.

    ``caught_up`` asks the source whether everything that was in a partition has been handled.
    """

    def __init__(self, caught_up: Callable[[Partition], bool] = lambda _: False) -> None:
        self.positions: dict[Partition, int] = {}
        self.caught_up = caught_up
        self._watermarks: dict[Partition, datetime] = {}

    def assigned(self, positions: Mapping[Partition, int]) -> None:
        self.positions.update(positions)

    def revoked(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self.positions.pop(partition, None)
            self._watermarks.pop(partition, None)

    def read(self, partition: Partition, turns: Iterable[Turn], now: datetime) -> None:
        """Note the turns of a batch."""
        newest = max((turn.at for turn in turns), default=None)
        if newest is not None:
            before = self._watermarks.get(partition, newest)
            self._watermarks[partition] = max(before, min(newest, now + CLOCK_AHEAD))

    def moment(self, partition: Partition, now: datetime) -> Moment:
        """Return the time for a decision about a case of ``partition``; one that is not ours counts as read."""
        if not self.owns(partition):
            return Moment(now)
        watermark = self._watermarks.get(partition)
        live = watermark is not None and now - watermark <= LIVE_AGE
        return Moment(now, watermark, caught_up=live or self.caught_up(partition))

    def owns(self, partition: Partition) -> bool:
        return partition in self.positions
