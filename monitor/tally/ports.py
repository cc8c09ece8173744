"""Where tallies wait, are added up, and who may do that: what the publisher needs of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from monitor.tally.cell import Cell
from monitor.tally.election import Lease
from monitor.tally.hours import Hour, Pairs, Place


class Tallies(Protocol):
    """Every method raises ``StoreError``."""

    async def lease(self) -> Lease | None: ...

    async def elect(self, seen: Lease | None, to: Lease) -> bool:
        """Write ``to`` if the lease still is what was seen."""
        ...

    async def waiting(self) -> int:
        """Number of tallies that nobody has added up yet."""
        ...

    async def take(self, limit: int) -> Sequence[tuple[int, str]]:
        """The oldest tallies, by id, as they were encoded. They stay."""
        ...

    async def pairs(self, hours: Collection[datetime]) -> Pairs:
        """Tracks and releases that each of these hours has rows of."""
        ...

    async def hours(self, places: Collection[Place]) -> Mapping[Place, Hour]:
        """Those that exist."""
        ...

    async def fold(self, term: int, ids: Collection[int], rows: Mapping[Place, Hour]) -> bool:
        """In one transaction: take the tallies out of the queue and write the rows.

        Do nothing and return False if ``term`` is not the elected one's, or a tally is no longer there.
        """
        ...

    async def since(self, hour: datetime) -> Sequence[tuple[Place, Cell]]:
        """All rows of that hour and later ones, without their styles."""
        ...

    async def sketched(self, since: datetime) -> Sequence[Place]:
        """The rows of that hour and later ones that hold styles."""
        ...

    async def between(
        self, track: str, release: str, since: datetime, until: datetime
    ) -> Sequence[tuple[Place, Hour]]:
        """All rows of a release from that hour on and before the other, with their styles, the oldest first."""
        ...

    async def drop(self, before: datetime) -> int:
        """Delete hours that are older, whoever is elected; return how many rows went."""
        ...
