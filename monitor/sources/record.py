"""What a source hands on: raw records with their positions, nothing decoded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from monitor.store.work import Partition


@dataclass(frozen=True, slots=True)
class Record:
    partition: Partition
    offset: int
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)
    headers: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)
    timestamp: datetime | None = None  # the broker's


Committed = Callable[[Sequence[Partition]], Awaitable[Mapping[Partition, int]]]
"""Asks the broker for the offsets that were committed to it; a partition without one is left out."""


class Handler(Protocol):
    """The pipeline, as a source sees it."""

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        """Process a batch; return the next offset of every partition that was done: reading goes on there.

        A partition that is missing from the answer is read again.
        """
        ...

    def written(self, partition: Partition) -> int:
        """Next offset that is safely in the database. Nothing beyond it is committed to the broker."""
        ...

    async def assigned(
        self, partitions: Sequence[Partition], committed: Committed
    ) -> Mapping[Partition, int]:
        """Called when partitions come: return the offsets to read on from.

        The database is the truth; while it is away, ``committed`` says from where nothing is left out.
        """
        ...

    async def began_anew(self, partition: Partition, offset: int) -> None:
        """The partition's log was lost or made anew: it ends below our position, and is read from ``offset`` again.

        Raises if that cannot be noted yet; it is said again.
        """
        ...

    async def revoked(self, partitions: Sequence[Partition]) -> None:
        """Called when partitions go, after the batch in hand is done."""
        ...
