"""What an intake shows of partitions that are its own and are not read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from aiokafka import TopicPartition

from monitor.errors import StoreUnavailable
from monitor.sources.backoff import Backoff
from monitor.sources.holds import Holds
from monitor.sources.intake import Intake
from monitor.sources.record import Record
from monitor.store.work import Partition
from tests.support.fake_clock import EPOCH
from tests.support.scripted_consumer import ScriptedConsumer
from tests.support.until import until

PLACES = TopicPartition("turns", 0), TopicPartition("turns", 1)


class Handler:
    def __init__(self) -> None:
        self.away = False

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        return {record.partition: record.offset + 1 for record in batch}

    def written(self, partition: Partition) -> int:
        del partition
        return 0

    async def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        if self.away:
            raise StoreUnavailable
        return dict.fromkeys(partitions, 7)

    async def began_anew(self, partition: Partition, offset: int) -> None:
        """Nothing is noted."""

    async def revoked(self, partitions: Sequence[Partition]) -> None:
        """Nothing is let go."""


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
def consumer() -> ScriptedConsumer:
    return ScriptedConsumer(*PLACES)


@pytest.fixture
def intake(handler: Handler, consumer: ScriptedConsumer) -> Intake:
    made = Intake(handler, Holds(), Backoff(0.01, 0.02), now=lambda: EPOCH, commit_seconds=1)
    made.attach(lambda: consumer)
    return made


async def test_what_is_ours_counts_as_unknown_until_its_position_is_known(intake, handler, consumer):
    handler.away = True
    await intake.on_partitions_assigned(PLACES)
    await asyncio.sleep(0.05)
    assert intake.unknown() == {("turns", 0), ("turns", 1)}
    assert intake.partitions() == {}
    assert consumer.paused == set(PLACES)
    handler.away = False
    await until(lambda: not intake.unknown(), 5, 0.01)
    assert set(intake.partitions()) == {("turns", 0), ("turns", 1)}
    assert not consumer.paused


async def test_it_is_joining_until_the_group_has_said_what_is_ours_were_it_nothing(intake, consumer):
    assert intake.joining
    await intake.on_partitions_assigned(())
    assert not intake.joining
    await intake.on_partitions_revoked(())
    assert intake.joining
    await intake.leave(consumer.assignment())
