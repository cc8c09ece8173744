"""A broker for tests, and a handler that keeps its positions as the database would: by compare-and-set."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from monitor.demo.broker import EmbeddedBroker, create_topic
from monitor.errors import PositionConflict
from monitor.sources.kafka import KafkaSource
from monitor.sources.record import Committed, Record
from monitor.sources.settings import KafkaSettings
from monitor.store.work import Partition

VARIABLE = "JIEZHU_KAFKA__BOOTSTRAP_SERVERS"
JOIN = 40.0  # seconds within which a group settles, on a busy machine


@dataclass(frozen=True)
class Broker:
    bootstrap_servers: str
    pid: int | None  # None: not ours to stop

    def settings(self, topic: str, **changes: object) -> KafkaSettings:
        own = {
            "bootstrap_servers": self.bootstrap_servers,
            "topic": topic,
            "group_id": topic,
            # the embedded broker lets every rebalance take half of it; Apache Kafka takes no less than 6 s
            "session_timeout_ms": 3_000 if self.pid else 6_000,
            "heartbeat_interval_ms": 300,
            "first_retry_seconds": 0.05,
            "longest_retry_seconds": 0.5,
        }
        return KafkaSettings(**{**own, **changes})  # type: ignore[arg-type]

    async def topic(self, partitions: int = 2) -> str:
        name = f"test-{uuid.uuid4().hex[:12]}"
        await create_topic(self.bootstrap_servers, name, partitions)
        return name

    @asynccontextmanager
    async def producer(self) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers, max_request_size=8 << 20)
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    async def send(self, topic: str, *values: bytes | None, partition: int = 0) -> None:
        async with self.producer() as producer:
            for sent in [
                await producer.send(topic, value, key=b"key", partition=partition) for value in values
            ]:
                await sent

    async def committed(self, topic: str, partition: int = 0) -> int | None:
        async with self._consumer(group_id=topic) as consumer:
            return await consumer.committed(TopicPartition(topic, partition))

    async def read(self, topic: str, count: int, partition: int = 0) -> list[object]:
        async with self._consumer() as consumer:
            consumer.assign([TopicPartition(topic, partition)])
            await consumer.seek_to_beginning()
            return [await asyncio.wait_for(consumer.getone(), 10) for _ in range(count)]

    @asynccontextmanager
    async def _consumer(self, group_id: str | None = None) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap_servers, group_id=group_id, enable_auto_commit=False
        )
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """The broker that the environment names, else an embedded one for the session."""
    if given := os.environ.get(VARIABLE):
        yield Broker(given, None)
        return
    with EmbeddedBroker() as embedded:
        yield Broker(embedded.bootstrap_servers, embedded.pid)


@dataclass
class Ledger:
    """What the database holds, shared by all workers."""

    positions: dict[Partition, int] = field(default_factory=dict)
    done: list[Record] = field(default_factory=list)
    conflicts: int = 0

    def values(self, partition: int | None = None) -> list[bytes | None]:
        return [record.value for record in self.done if partition in (None, record.partition[1])]


def numbers(first: int, last: int) -> list[bytes]:
    """Values to send."""
    return [str(number).encode() for number in range(first, last)]


Before = Callable[[Sequence[Record]], Awaitable[None]]


async def _nothing(_batch: Sequence[Record]) -> None:
    return


class LedgerHandler:
    """Processes a batch in one transaction with its positions, as the pipeline does."""

    def __init__(self, ledger: Ledger, before: Before = _nothing) -> None:
        self.ledger = ledger
        self.before = before
        self.batches: list[Sequence[Record]] = []  # also those that failed
        self.assignments: list[Sequence[Partition]] = []
        self.revocations: list[Sequence[Partition]] = []
        self._known: dict[Partition, int] = {}

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        self.batches.append(batch)
        await self.before(batch)
        batch = [record for record in batch if record.offset >= self._known.get(record.partition, 0)]
        ends = {record.partition: record.offset + 1 for record in batch}
        stored = self.ledger.positions
        if lost := {name for name in ends if stored.get(name, 0) != self._known.get(name, 0)}:
            self.ledger.conflicts += 1
            raise PositionConflict(frozenset(lost))
        stored.update(ends)
        self._known.update(ends)
        self.ledger.done.extend(batch)
        return ends

    def written(self, partition: Partition) -> int:
        return self._known.get(partition, 0)

    async def assigned(
        self, partitions: Sequence[Partition], committed: Committed
    ) -> Mapping[Partition, int]:
        self.assignments.append(partitions)
        found = {name: self.ledger.positions[name] for name in partitions if name in self.ledger.positions}
        self._known.update({name: found.get(name, 0) for name in partitions})
        return found

    async def began_anew(self, partition: Partition, offset: int) -> None:
        self.ledger.positions[partition] = self._known[partition] = offset

    async def revoked(self, partitions: Sequence[Partition]) -> None:
        self.revocations.append(partitions)


@asynccontextmanager
async def running(source: KafkaSource, *, connected: bool = True) -> AsyncIterator[KafkaSource]:
    """The source, run until the block ends."""
    task = asyncio.create_task(source.run())
    try:
        if connected:
            await asyncio.wait_for(source.wait_connected(), JOIN)
        yield source
    finally:
        await asyncio.wait_for(source.stop(), JOIN)
        await asyncio.wait_for(task, JOIN)
