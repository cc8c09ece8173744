"""Asks all the time what a group has committed to the broker, and holds it against the positions in the database."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from sqlalchemy.exc import SQLAlchemyError

from tests.support.crew import PARTITIONS, Crew

EVERY = 0.1  # seconds


class CommitWatch:
    """``ahead`` are commits that went beyond what the database held; ``checked`` counts comparisons.

    The broker is asked first and the database after it: positions only grow, so a commit that is above them
    then was above them when it was made. What is committed while the database is away is held against the
    first positions that it tells when it is back.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._places = [TopicPartition(crew.topic, number) for number in range(PARTITIONS)]
        self._unchecked: dict[int, int] = {}
        self.checked = 0
        self.away = 0
        self.ahead: list[tuple[int, int, int]] = []  # partition, committed, position
        self.committed: dict[int, int] = {}

    async def look(self, admin: AIOKafkaAdminClient) -> None:
        told = await admin.list_consumer_group_offsets(self._crew.topic, partitions=self._places)
        self.committed = {place.partition: one.offset for place, one in told.items() if one.offset > 0}
        for partition, offset in self.committed.items():
            self._unchecked[partition] = max(offset, self._unchecked.get(partition, 0))
        try:
            rows = await asyncio.to_thread(self._crew.rows, "SELECT number, next FROM positions")
        except SQLAlchemyError:
            self.away += 1
            return
        positions = dict(rows)
        for partition, offset in self._unchecked.items():
            self.checked += 1
            if offset > (position := positions.get(partition, 0)):
                self.ahead.append((partition, offset, position))
        self._unchecked.clear()

    async def run(self, admin: AIOKafkaAdminClient) -> None:
        while True:
            await self.look(admin)
            await asyncio.sleep(EVERY)


@asynccontextmanager
async def watching_commits(crew: Crew) -> AsyncIterator[CommitWatch]:
    """Looks until the block ends."""
    admin = AIOKafkaAdminClient(bootstrap_servers=crew.broker.bootstrap_servers)
    await admin.start()
    watch = CommitWatch(crew)
    task = asyncio.create_task(watch.run(admin))
    try:
        yield watch
        await watch.look(admin)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await admin.close()
