"""The canaries of one worker: which partition is next, what has arrived, what is overdue. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from alerts.canary import Canary

NEWEST = 4  # of a partition's canaries that are waited for, beside the oldest: so much is kept of any outage


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
        self._since: dict[int, datetime] = {}  # when each partition was heard of
        self._waiting: dict[int, list[Canary]] = {}  # by partition, in order
        self._arrived: dict[int, Canary] = {}  # the newest that arrived, by partition
        self._learnt: set[int] = set()  # of these the newest arrived before we began

    def partitions(self, found: Collection[int], now: datetime) -> None:
        self._partitions = sorted(found)
        self._since = {one: self._since.get(one, now) for one in self._partitions}
        self._waiting = {one: some for one, some in self._waiting.items() if one in found}

    def begin(self, now: datetime) -> list[Canary]:
        """The canaries of this moment, that whose turn it is first, noted as waited for, whether or not they can be sent."""
        seconds = int(self._every.total_seconds())
        at = int(now.timestamp()) // seconds * seconds
        turn = self._partitions[at // seconds % len(self._partitions)]
        begun = [Canary(at, partition) for partition in (turn, *sorted(self.overdue(now) - {turn}))]
        for canary in begun:
            waiting = sorted({*self._waiting.get(canary.partition, ()), canary})
            self._waiting[canary.partition] = [waiting[0], *waiting[1:][-NEWEST:]]
        return begun

    def next_at(self, now: datetime) -> datetime:
        seconds = int(self._every.total_seconds())
        return datetime.fromtimestamp((int(now.timestamp()) // seconds + 1) * seconds, UTC)

    @property
    def waiting(self) -> frozenset[Canary]:
        return frozenset(one for some in self._waiting.values() for one in some)

    @property
    def newest(self) -> tuple[Canary, ...]:
        """The last that arrived of each partition."""
        return tuple(self._arrived.values())

    def learn(self, arrived: Iterable[Canary]) -> None:
        """What arrived before this worker began: a fresh one does not wait with fresh patience."""
        for canary in arrived:
            if self.arrived(canary):
                self._learnt.add(canary.partition)

    def arrived(self, canary: Canary) -> bool:
        """Whatever was due before on its partition is not waited for any more. False if it was known."""
        known = self._arrived.get(canary.partition)
        if known is not None and known >= canary:
            return False
        self._arrived[canary.partition] = canary
        self._learnt.discard(canary.partition)
        if later := [one for one in self._waiting.pop(canary.partition, ()) if one > canary]:
            self._waiting[canary.partition] = later
        return True

    def overdue(self, now: datetime) -> frozenset[int]:
        """Partitions with a canary that should be through."""
        known = {*self._waiting, *self._learnt.intersection(self._partitions)}
        return frozenset(one for one in known if now > self.due(one))

    def due(self, partition: int) -> datetime:
        """By when the next one must have arrived: else the way through this partition is not known to be open."""
        if waiting := self._waiting.get(partition):
            return waiting[0].due + self._within
        last = self._arrived.get(partition)
        since = self._since.get(partition, self._started) if last is None else last.due
        return since + self._every * (len(self._partitions) + 1) + self._within

    @property
    def watched(self) -> tuple[int, ...]:
        return tuple(self._partitions)
