"""Tallies in memory: the same contract, over the store in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from monitor.store.memory import MemoryStore
from monitor.tally.cell import Cell
from monitor.tally.codec import cell_of_json, cell_to_json
from monitor.tally.election import Lease
from monitor.tally.hours import Hour, Pairs, Place


class MemoryTallies:
    """Implements ``Tallies``."""

    def __init__(self, store: MemoryStore) -> None:
        self._queue = store.tallies
        self._lease: Lease | None = None
        self._hours: dict[Place, tuple[str, bytes | None]] = {}

    async def lease(self) -> Lease | None:
        return self._lease

    async def elect(self, seen: Lease | None, to: Lease) -> bool:
        if self._lease != seen:
            return False
        self._lease = to
        return True

    async def waiting(self) -> int:
        return len(self._queue)

    async def take(self, limit: int) -> Sequence[tuple[int, str]]:
        return list(self._queue.items())[:limit]

    async def pairs(self, hours: Collection[datetime]) -> Pairs:
        return {
            hour: {(place.where.track, place.where.release) for place in self._hours if place.hour == hour}
            for hour in hours
        }

    async def hours(self, places: Collection[Place]) -> Mapping[Place, Hour]:
        known = {place: self._hours[place] for place in places if place in self._hours}
        return {place: Hour(cell_of_json(body), style) for place, (body, style) in known.items()}

    async def fold(self, term: int, ids: Collection[int], rows: Mapping[Place, Hour]) -> bool:
        if not self._elected(term) or not all(one in self._queue for one in ids):
            return False
        for one in ids:
            del self._queue[one]
        self._hours |= {place: (cell_to_json(hour.cell), hour.style) for place, hour in rows.items()}
        return True

    async def since(self, hour: datetime) -> Sequence[tuple[Place, Cell]]:
        return [(place, cell_of_json(body)) for place, (body, _) in self._hours.items() if place.hour >= hour]

    async def sketched(self, since: datetime) -> Sequence[Place]:
        return [place for place, (_, style) in self._hours.items() if place.hour >= since and style]

    async def between(
        self, track: str, release: str, since: datetime, until: datetime
    ) -> Sequence[tuple[Place, Hour]]:
        found = await self.hours([place for place in self._hours if since <= place.hour < until])
        mine = (track, release)
        return sorted(
            (row for row in found.items() if (row[0].where.track, row[0].where.release) == mine),
            key=lambda row: row[0],
        )

    async def drop(self, before: datetime) -> int:
        old = [place for place in self._hours if place.hour < before]
        for place in old:
            del self._hours[place]
        return len(old)

    def _elected(self, term: int) -> bool:
        return self._lease is not None and self._lease.term == term
