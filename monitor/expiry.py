"""What ends by age alone, whoever wrote it: words, dead letters, canaries, and the figures of hours.

Words of streamed messages end within minutes, so they are looked for all the time, beside the timers: nothing is decided by
it, and no deadline waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts.canary import Canary
from alerts.ports import Clock
from detectors.fold import PIECE_LIFE, PIECE_LIFE_BEHIND
from monitor.canary import KEPT
from monitor.errors import StoreError
from monitor.store.work import Partition, Store

_log = structlog.get_logger(__name__)

EXPIRY = timedelta(hours=1)
LOOK = timedelta(seconds=10)  # so often it shows that it lives, and tries again what could not be done
ROUNDS = 20  # of one look for words of streamed messages, each of bounded size


class Hours(Protocol):
    async def drop(self, before: datetime) -> int:
        """Delete hours that are older; return how many rows went. Raise ``StoreError``."""
        ...


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts and sketches of styles by the hour, and how long they are kept."""

    hours: Hours
    keep: timedelta


class Expiry:
    """``keep``: how long words are kept (M7). ``read_to_end``: the partitions that nothing waits in.

    Canaries are swept here, too, for those of another jiezhu with the same key come to one that sends none itself.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        keep: timedelta,
        figures: Figures | None = None,
        *,
        read_to_end: Callable[[datetime], Collection[Partition]] = lambda _: (),
        looked: Callable[[datetime], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._keep = keep
        self._figures = figures
        self._read_to_end = read_to_end
        self._looked = looked

    async def run(self) -> None:
        due = self._clock.now()
        while True:
            now = self._clock.now()
            self._looked(now)
            await self.expire_pieces()
            if now >= due and await self.expire():
                due = now + EXPIRY
            await self._clock.sleep(LOOK)

    async def expire_pieces(self) -> None:
        """What may still wait in a partition is waited for an hour; the rest of a message then is heard by itself."""
        now = self._clock.now()
        try:
            await self._drain(now - PIECE_LIFE, self._read_to_end(now))
            await self._drain(now - PIECE_LIFE_BEHIND, None)
        except StoreError as error:
            _log.info("expiry_put_off", error=type(error).__name__)

    async def _drain(self, before: datetime, partitions: Collection[Partition] | None) -> None:
        for _ in range(ROUNDS):
            self._looked(self._clock.now())
            if not await self._store.expire_pieces(before, partitions):
                break

    async def expire(self) -> bool:
        """Return whether it is done: while the database is away it is tried again."""
        now = self._clock.now()
        try:
            gone = await self._store.expire(now - self._keep)
            if self._figures is not None:
                gone += await self._figures.hours.drop(now - self._figures.keep)
            if gone:
                _log.info("expired", rows=gone)
            await self._store.sweep_canaries(Canary(int((now - KEPT).timestamp()), 0))
        except StoreError as error:
            _log.info("expiry_put_off", error=type(error).__name__)
            return False
        return True
