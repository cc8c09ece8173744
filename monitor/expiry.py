"""What ends by age alone, whoever wrote it: words, dead letters, and canaries."""

from __future__ import annotations

from datetime import timedelta

import structlog

from alerts.canary import Canary
from alerts.ports import Clock
from monitor.canary import KEPT
from monitor.errors import StoreError
from monitor.store.work import Store

_log = structlog.get_logger(__name__)

EXPIRY = timedelta(hours=1)


class Expiry:
    """``keep``: how long words are kept (M7).

    Canaries are swept here, too, for those of another jiezhu with the same key come to one that sends none itself.
    """

    def __init__(self, store: Store, clock: Clock, keep: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._keep = keep

    async def run(self) -> None:
        while True:
            await self.expire()
            await self._clock.sleep(EXPIRY)

    async def expire(self) -> None:
        now = self._clock.now()
        try:
            gone = await self._store.expire(now - self._keep)
            if gone:
                _log.info("expired", rows=gone)
            await self._store.sweep_canaries(Canary(int((now - KEPT).timestamp()), 0))
        except StoreError as error:  # away: the next hour
            _log.info("expiry_put_off", error=type(error).__name__)
