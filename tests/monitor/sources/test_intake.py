"""What an intake shows of partitions that are its own and are not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiokafka import ConsumerRecord, TopicPartition
from structlog.testing import capture_logs

from monitor.errors import StoreUnavailable
from monitor.sources.backoff import Backoff
from monitor.sources.holds import Holds
from monitor.sources.intake import Intake
from monitor.sources.record import Committed, Record
from monitor.store.work import Partition
from tests.support.fake_clock import EPOCH, FakeClock
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

    async def assigned(
        self, partitions: Sequence[Partition], committed: Committed
    ) -> Mapping[Partition, int]:
        if self.away:
            return await committed(partitions)
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
    handler.away = consumer.away = True
    await intake.on_partitions_assigned(PLACES)
    await asyncio.sleep(0.05)
    assert intake.unknown() == {("turns", 0), ("turns", 1)}
    assert intake.partitions() == {}
    assert consumer.paused == set(PLACES)
    handler.away = False
    await until(lambda: not intake.unknown(), 5, 0.01)
    assert set(intake.partitions()) == {("turns", 0), ("turns", 1)}
    assert not consumer.paused


async def test_where_the_handler_does_not_know_the_broker_says_what_was_committed(intake, handler, consumer):
    handler.away, consumer.noted = True, {PLACES[0]: 5}
    await intake.on_partitions_assigned(PLACES)
    await until(lambda: not intake.unknown(), 5, 0.01)
    assert consumer.places == {PLACES[0]: 5, PLACES[1]: 0}
    assert not consumer.paused


async def test_it_is_joining_until_the_group_has_said_what_is_ours_were_it_nothing(intake, consumer):
    assert intake.joining
    await intake.on_partitions_assigned(())
    assert not intake.joining
    await intake.on_partitions_revoked(())
    assert intake.joining
    await intake.leave(consumer.assignment())


class Noting(Handler):
    """Remembers what it was given, and where a log began anew."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets: list[int] = []
        self.anew: list[int] = []

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        self.offsets += [record.offset for record in batch]
        return await super().handle(batch)

    async def began_anew(self, partition: Partition, offset: int) -> None:
        del partition
        self.anew.append(offset)


@pytest.mark.parametrize(
    ("first", "anew"),
    [(12, []), (0, [0]), (3, [3])],
    ids=[
        "what we were to read next has left the topic",
        "a new log",
        "a new log that has lost its beginning",
    ],
)
async def test_where_the_client_was_sent_elsewhere_by_the_broker_reading_goes_on_from_there(first, anew):
    """R39. Seven was asked for and is out of range; the client goes to the first record there is, and so do we."""
    handler, consumer = Noting(), ScriptedConsumer(PLACES[0])
    intake = Intake(handler, Holds(), Backoff(0.01, 0.02), now=lambda: EPOCH, commit_seconds=1)
    intake.attach(lambda: consumer)
    await intake.on_partitions_assigned(PLACES[:1])
    await until(lambda: not intake.unknown(), 5, 0.01)
    assert consumer.places[PLACES[0]] == 7
    for start in (first, first + 2):
        consumer.places[PLACES[0]] = start + 2
        await intake.receive([a_record(start), a_record(start + 1)])
    assert handler.offsets == [first, first + 1, first + 2, first + 3]
    assert handler.anew == anew
    assert intake.failures == 0


@pytest.mark.parametrize(
    ("position", "begins", "lost"),
    [(7, 12, 5), (7, 9, 2), (7, 0, 0), (7, None, 5), (0, 12, 0)],
    ids=["deleted", "deleted, and a transaction's mark", "a transaction's mark", "who knows", "never read"],
)
async def test_what_the_topic_deleted_before_it_was_read_is_counted_and_told(position, begins, lost):
    """R39."""
    handler, consumer = Failing(position), ScriptedConsumer(PLACES[0])
    consumer.begins[PLACES[0]], consumer.away = begins or 0, begins is None
    holds = Holds()
    intake = Intake(handler, holds, Backoff(0.01, 0.02), now=lambda: EPOCH, commit_seconds=1)
    intake.attach(lambda: consumer)
    await intake.on_partitions_assigned(PLACES[:1])
    await until(lambda: not intake.unknown(), 5, 0.01)
    with capture_logs() as logs:
        for _ in range(2):  # the first time the batch fails, and nothing is lost by that
            consumer.places[PLACES[0]] = 14
            await intake.receive([a_record(12), a_record(13)])
            await until(lambda: not holds.holding(("turns", 0)), 5, 0.01)
    assert handler.offsets == [12, 13]
    assert intake.lost == lost
    told = [(line["log_level"], line["count"]) for line in logs if line["event"] == "records_lost"]
    assert told == [("error", lost)] * bool(lost)


async def test_it_tells_since_when_a_partition_is_stuck():
    """Through every attempt, and until a batch of it is done."""
    handler, consumer, clock = Choosy(), ScriptedConsumer(*PLACES), FakeClock()
    intake = Intake(handler, Holds(), Backoff(0.01, 0.02), now=clock.now, commit_seconds=1)
    intake.attach(lambda: consumer)
    await intake.on_partitions_assigned(PLACES)
    await until(lambda: not intake.unknown(), 5, 0.01)
    assert stuck(intake) == [None, None]
    handler.fails, began = True, clock.now()
    for _ in range(2):
        consumer.places[PLACES[0]] = 8
        await intake.receive([a_record(7)])
        await until(lambda: PLACES[0] not in consumer.paused, 5, 0.01)
        clock.jump(timedelta(seconds=10))
        assert stuck(intake) == [began, None]
    handler.fails = False
    consumer.places[PLACES[0]] = 8
    await intake.receive([a_record(7)])
    assert stuck(intake) == [None, None]


async def test_a_line_that_is_stopped_amid_a_batch_is_stuck_from_then_on_and_until_it_runs():
    handler, consumer, clock, holds = Choosy(), ScriptedConsumer(PLACES[0]), FakeClock(), Holds()
    intake = Intake(handler, holds, Backoff(0.01, 0.02), now=clock.now, commit_seconds=1)
    intake.attach(lambda: consumer)
    await intake.on_partitions_assigned(PLACES[:1])
    await until(lambda: not intake.unknown(), 5, 0.01)

    def stop_line() -> None:
        holds.hold("line_stopped")
        intake.apply_holds()

    handler.meanwhile, began = stop_line, clock.now()
    consumer.places[PLACES[0]] = 8
    await intake.receive([a_record(7)])
    clock.jump(timedelta(seconds=10))
    assert stuck(intake) == [began]
    holds.release("line_stopped")
    intake.apply_holds()
    assert stuck(intake) == [None]


def stuck(intake: Intake) -> list[datetime | None]:
    return [known.stuck for _, known in sorted(intake.partitions().items())]


class Choosy(Handler):
    """Fails as it is told, and lets something happen while a batch is in hand."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.meanwhile: Callable[[], None] = lambda: None

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        self.meanwhile()
        if self.fails:
            raise KeyError
        return await super().handle(batch)


class Failing(Noting):
    """The first batch fails."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self._position = position
        self._failed = False

    async def assigned(
        self, partitions: Sequence[Partition], committed: Committed
    ) -> Mapping[Partition, int]:
        return dict.fromkeys(partitions, self._position)

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        if not self._failed:
            self._failed = True
            raise StoreUnavailable
        return await super().handle(batch)


def a_record(offset: int) -> ConsumerRecord[Any, Any]:
    return ConsumerRecord(*PLACES[0], offset, 0, 0, None, b"{}", None, 0, 2, ())
