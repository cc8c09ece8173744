"""How far a source has come: what health and lag are judged by, rather than by a process that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from monitor.store.work import Partition


class SourceState(StrEnum):
    IDLE = "idle"  # not started yet
    CONNECTING = "connecting"  # the broker or the topic is away; tried again and again
    JOINED = "joined"  # in the group; partitions may still be on their way
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """``position`` is the next offset to be handled; ``end`` the offset that the next new record will get."""

    position: int
    end: int | None  # None: nothing was fetched yet
    polled: datetime | None  # when the broker last answered
    since: datetime  # when reading began, or began again after a hold
    held: bool = False
    in_hand: bool = False  # a batch of its records is being handled
    unread: bool = False  # what the broker last answered waits in the client; it is not asked meanwhile
    stuck: datetime | None = None  # since when none of it can be handled: it is held, or its batches fail

    @property
    def lag(self) -> int | None:
        """Records; None while unknown."""
        return None if self.end is None else max(0, self.end - self.position)


@dataclass(frozen=True, slots=True)
class Progress:
    state: SourceState
    partitions: Mapping[Partition, PartitionProgress] = field(default_factory=dict)
    holds: Mapping[str, frozenset[Partition] | None] = field(default_factory=dict)
    last_record: datetime | None = None  # when a batch was last handed on
    last_done: datetime | None = None  # when a batch was last done and safe
    handling_since: datetime | None = None  # set while a batch is in hand
    failures: int = 0  # batches that failed since one was done
    resets: int = 0  # times the broker's log began anew below our position
    lost: int = 0  # records that the topic deleted before they were read
    unreadable: int = 0  # records that the client library could not read, handed on without content
    restarts: int = 0  # times the client was built anew
    looked: datetime | None = None  # when the source's own loop last looked at its client
    unknown: frozenset[Partition] = frozenset()  # ours, and nobody has said yet from where to read
    joining: bool = False  # the group has not said yet what is ours

    @property
    def back_pressure(self) -> bool:
        """True while nothing more is fetched of some partition, because what was fetched waits for a batch in hand."""
        return self.handling_since is not None and any(known.unread for known in self.partitions.values())

    def reads(self, now: datetime, limit: timedelta) -> bool:
        """True if all that is ours is read, as the broker's answers show; without any partition, if the group said so."""
        if self.state is not SourceState.JOINED or self.joining or self.unknown:
            return False
        busy = self.busy(now, limit)
        read = [known for known in self.partitions.values() if not known.held]
        return (bool(read) or not self.partitions) and all(
            known.in_hand
            or (known.unread and busy)
            or (known.polled is not None and now - known.polled <= limit)
            for known in read
        )

    def caught_up(self, partition: Partition) -> bool:
        """True once everything that was in the partition at the last fetch has been handled."""
        known = self.partitions.get(partition)
        return known is not None and known.lag == 0

    def stuck(self, partition: Partition) -> datetime | None:
        """Since when nothing of the partition can be handled; None while it is read, or somebody else's."""
        known = self.partitions.get(partition)
        return None if known is None else known.stuck

    def busy(self, now: datetime, limit: timedelta) -> bool:
        """True while batches are done, one after another."""
        return self.handling_since is not None or (
            self.last_done is not None and now - self.last_done <= limit
        )

    def silent(self, now: datetime, limit: timedelta) -> frozenset[Partition]:
        """Partitions that should be read and from which the broker has not answered within the limit.

        While batches are handled the broker is not asked about what waits in the client: that is our own slowness.
        """
        busy = self.busy(now, limit)
        return frozenset(
            partition
            for partition, known in self.partitions.items()
            if not (known.held or known.in_hand or (known.unread and busy))
            and now - max(known.since, known.polled or known.since) > limit
        )
