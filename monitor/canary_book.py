"""The canaries of one worker: which partition is next, what has arrived, what is overdue. Pure."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from alerts.canary import Canary


class CanaryBook:
    """Partitions take turns, one each ``every``; one whose canary is overdue is tried again each time.

    The times are those of the clock's grid, so that all workers speak of the same canaries, and whoever is alive
    sends them: a canary that is sent twice is one conversation.
    """

    def __init__(self, every: timedelta, within: timedelta, started: datetime) -> None:
        self._every = every
        self._within = within
        self._started = started
        self._partitions: list[int] = [0]  # until they are known
        self._waiting: set[Canary] = set()
        self._arrived: dict[int, datetime] = {}  # newest due time that arrived, by partition

    def partitions(self, found: Collection[int]) -> None:
        self._partitions = sorted(found)
        self._waiting = {canary for canary in self._waiting if canary.partition in found}

    def begin(self, now: datetime) -> list[Canary]:
        """The canaries of this moment, noted as waited for, whether or not they can be sent."""
        seconds = int(self._every.total_seconds())
        at = int(now.timestamp()) // seconds * seconds
        turn = self._partitions[at // seconds % len(self._partitions)]
        begun = [Canary(at, partition) for partition in sorted({turn, *self.overdue(now)})]
        self._waiting.update(begun)
        return begun

    def next_at(self, now: datetime) -> datetime:
        seconds = int(self._every.total_seconds())
        return datetime.fromtimestamp((int(now.timestamp()) // seconds + 1) * seconds, UTC)

    @property
    def waiting(self) -> frozenset[Canary]:
        return frozenset(self._waiting)

    def arrived(self, canary: Canary) -> bool:
        """Whatever was due before on its partition is not waited for any more. False if it was known."""
        known = self._arrived.get(canary.partition)
        if known is not None and known >= canary.due:
            return False
        self._arrived[canary.partition] = canary.due
        self._waiting = {
            one for one in self._waiting if one.partition != canary.partition or one.at > canary.at
        }
        return True

    def overdue(self, now: datetime) -> frozenset[int]:
        """Partitions with a canary that should be through."""
        return frozenset(one.partition for one in self._waiting if now - one.due > self._within)

    def due(self, partition: int) -> datetime:
        """By when the next one must have arrived: else the way through this partition is not known to be open."""
        oldest = min((one.due for one in self._waiting if one.partition == partition), default=None)
        if oldest is not None:
            return oldest + self._within
        last = self._arrived.get(partition, self._started)
        return last + self._every * (len(self._partitions) + 1) + self._within

    @property
    def watched(self) -> tuple[int, ...]:
        return tuple(self._partitions)
