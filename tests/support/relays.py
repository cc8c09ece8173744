"""What a relay is tested with: an observer that remembers, and an outbox whose database goes away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from alerts.memory_outbox import MemoryOutbox
from alerts.relay import Relay
from tests.support.fake_clock import settle


class Ear:
    """A RelayObserver that remembers."""

    def __init__(self):
        self.attempts = []
        self.seconds = []
        self.dropped_pages = []
        self.failures = []
        self.rounds = []

    def sent(self, page, pager, attempt, delivery, seconds_since_detected):
        self.attempts.append((page.dedup_key, pager, attempt.reason, delivery.state))
        self.seconds.append(seconds_since_detected)

    def dropped(self, page, delivery):
        self.dropped_pages.append((page.dedup_key, delivery.state, delivery.reason))

    def went_round(self, now):
        self.rounds.append(now)

    def outbox_failed(self, operation):
        self.failures.append(operation)


class FlakyOutbox(MemoryOutbox):
    """An outbox whose database can go away, by errors or by silence."""

    def __init__(self):
        super().__init__()
        self.away = False
        self.silent = False
        self.poisoned = set()
        self.claims = 0

    async def _gate(self):
        if self.silent:
            await asyncio.Event().wait()
        if self.away:
            raise ConnectionError("the database is away")

    async def claim(self, now, lease, limit):
        self.claims += 1
        await self._gate()
        return await super().claim(now, lease, limit)

    async def record(self, notification_id, delivery):
        await self._gate()
        if notification_id in self.poisoned:
            raise ValueError("this row cannot be written")
        await super().record(notification_id, delivery)

    def state(self, notification_id):
        return next(row.delivery for row in self.rows() if row.id == notification_id)


@contextlib.asynccontextmanager
async def running(*relays: Relay) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(relay.run()) for relay in relays]
    await settle()
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
