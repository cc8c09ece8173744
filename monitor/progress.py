"""How far each partition has been read: the watermark, and whether we have caught up. Pure bookkeeping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from alerts.moment import Moment
from detectors.turn import Turn
from monitor.store.work import Partition

# A producer's clock that runs ahead must not make deadlines fall early.
CLOCK_AHEAD = timedelta(seconds=2)
# Events younger than this are live traffic, whatever the lag counter says.
LIVE_AGE = timedelta(seconds=5)
# A case whose partition nobody here reads is decided by the clock, so much later: its reader may be dead.
ORPHAN_GRACE = timedelta(seconds=15)


class Progress:
    """One a worker. ``positions`` are the next offsets that are safely in the database."""

    def __init__(self) -> None:
        self.positions: dict[Partition, int] = {}
        self._watermarks: dict[Partition, datetime] = {}
        self._behind: dict[Partition, bool] = {}

    def assigned(self, positions: Mapping[Partition, int]) -> None:
        """Take partitions over; until something was read we do not know whether we are behind."""
        for partition, position in positions.items():
            self.positions[partition] = position
            self._behind[partition] = True

    def revoked(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self.positions.pop(partition, None)
            self._watermarks.pop(partition, None)
            self._behind.pop(partition, None)

    def read(self, partition: Partition, turns: Iterable[Turn], now: datetime) -> None:
        """Note the turns of a batch."""
        newest = max((turn.at for turn in turns), default=None)
        if newest is None:
            return
        newest = min(newest, now + CLOCK_AHEAD)
        before = self._watermarks.get(partition)
        self._watermarks[partition] = max(before, newest) if before else newest
        if now - newest <= LIVE_AGE:
            self._behind[partition] = False

    def idle(self, partition: Partition) -> None:
        """Note that the source has nothing more of this partition."""
        if partition in self.positions:
            self._behind[partition] = False

    def moment(self, partition: Partition, now: datetime) -> Moment:
        """Return the time for a decision about a case of ``partition``; one that is not ours counts as read."""
        if partition not in self.positions:
            return Moment(now)
        return Moment(now, self._watermarks.get(partition), caught_up=not self._behind.get(partition, True))

    def owns(self, partition: Partition) -> bool:
        return partition in self.positions
