"""Where the Kafka source reads on: the database says it, and what it has not taken is read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from monitor.errors import PositionConflict, StoreUnavailable
from monitor.sources.kafka import KafkaSource
from monitor.sources.record import Committed, Record
from monitor.standstill import SILENT
from monitor.store.work import Partition
from tests.support.kafka import Broker, Ledger, LedgerHandler, numbers, running
from tests.support.until import until

LONG = 20.0
AHEAD = 400  # records that wait to be worked on


async def test_what_is_not_in_the_database_is_read_and_not_committed(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)

    class Adrift(LedgerHandler):
        def written(self, partition: Partition) -> int:
            return min(super().written(partition), 4)

    handler = Adrift(Ledger())
    await broker.send(topic, *numbers(0, 10))
    async with running(KafkaSource(broker.settings(topic, batch_max_records=1), handler)):
        await until(lambda: len(handler.ledger.done) == 10, LONG)
    assert len(handler.batches) == 10
    assert await broker.committed(topic) == 4


async def test_partition_missing_from_the_answer_is_read_again(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)

    class Forgetful(LedgerHandler):
        async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
            if len(self.batches) < 2:
                self.batches.append(batch)
                return {}
            return await super().handle(batch)

    handler = Forgetful(Ledger())
    await broker.send(topic, *numbers(0, 5))
    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 5, LONG)
    assert handler.ledger.values() == numbers(0, 5)


async def test_the_database_says_where_to_read_on(broker: Broker) -> None:
    topic = await broker.topic(partitions=2)
    await broker.send(topic, *numbers(0, 10), partition=0)
    await broker.send(topic, *numbers(10, 20), partition=1)
    async with running(KafkaSource(broker.settings(topic), LedgerHandler(before := Ledger()))):
        await until(lambda: len(before.done) == 20, LONG)
    assert await broker.committed(topic, 0) == 10

    # the offsets at the broker say 10 and 10; the database knows better, in both directions
    await broker.send(topic, *numbers(20, 25), partition=1)
    ledger = Ledger(positions={(topic, 0): 4, (topic, 1): 12})
    async with running(KafkaSource(broker.settings(topic), LedgerHandler(ledger))):
        await until(lambda: len(ledger.done) == 9, LONG)
    assert ledger.values(0) == numbers(4, 10)
    assert ledger.values(1) == numbers(22, 25)


async def test_nothing_is_read_while_positions_are_unknown(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)

    class Away(LedgerHandler):
        refusals = 3

        async def assigned(
            self, partitions: Sequence[Partition], committed: Committed
        ) -> Mapping[Partition, int]:
            if self.refusals:
                self.refusals -= 1
                raise StoreUnavailable
            return await super().assigned(partitions, committed)

    handler = Away(Ledger(positions={(topic, 0): 3}))
    await broker.send(topic, *numbers(0, 5))
    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 2, LONG)
    assert handler.refusals == 0
    assert [record.value for batch in handler.batches for record in batch] == [b"3", b"4"]


async def test_while_positions_are_unknown_it_can_go_on_from_what_was_committed(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    await broker.send(topic, *numbers(0, 5))
    ledger = Ledger()
    async with running(KafkaSource(broker.settings(topic), LedgerHandler(ledger))):
        await until(lambda: len(ledger.done) == 5, LONG)
    assert await broker.committed(topic) == 5

    class Away(LedgerHandler):
        async def assigned(
            self, partitions: Sequence[Partition], committed: Committed
        ) -> Mapping[Partition, int]:
            self._known.update(await committed(partitions))
            return self._known

    await broker.send(topic, *numbers(5, 8))
    async with running(KafkaSource(broker.settings(topic), Away(ledger))):
        await until(lambda: len(ledger.done) == 8, LONG)
    assert (ledger.values(), ledger.conflicts) == (numbers(0, 8), 0)


async def test_a_void_batch_is_dropped_and_the_position_asked_for_anew(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    ledger = Ledger()

    async def overtake(batch: Sequence[Record]) -> None:
        if batch[0].value == b"5":
            ledger.positions[batch[0].partition] = 8

    handler = LedgerHandler(ledger, overtake)
    await broker.send(topic, *numbers(0, 10))
    async with running(KafkaSource(broker.settings(topic, batch_max_records=5), handler)):
        await until(lambda: ledger.positions.get((topic, 0)) == 10, LONG)
    assert ledger.conflicts == 1
    assert ledger.values() == [*numbers(0, 5), *numbers(8, 10)]


async def test_a_conflict_reads_the_rest_of_the_batch_again(broker: Broker) -> None:
    topic = await broker.topic(partitions=2)
    conflicts = 1

    async def conflict(batch: Sequence[Record]) -> None:
        nonlocal conflicts
        if conflicts:
            conflicts -= 1
            raise PositionConflict(frozenset({batch[0].partition}))

    handler = LedgerHandler(Ledger(), conflict)
    await broker.send(topic, *numbers(0, 5), partition=0)
    await broker.send(topic, *numbers(5, 10), partition=1)
    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 10, LONG)
    assert sorted(map(int, filter(None, handler.ledger.values()))) == list(range(10))


async def test_reads_again_from_where_the_database_stands(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    handler = LedgerHandler(Ledger())
    async with running(KafkaSource(broker.settings(topic), handler)) as source:
        await broker.send(topic, *numbers(0, 6))
        await until(lambda: len(handler.ledger.done) == 6, LONG)
        handler.ledger.positions[topic, 0] = 2
        source.reread()
        await until(lambda: len(handler.ledger.done) == 10, LONG)
        await broker.send(topic, *numbers(6, 8))
        await until(lambda: len(handler.ledger.done) == 12, LONG)
    assert handler.ledger.values() == [*numbers(0, 6), *numbers(2, 8)]
    assert handler.ledger.conflicts == 0


async def test_a_partition_whose_position_is_not_known_is_seen(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)

    class Away(LedgerHandler):
        async def assigned(
            self, partitions: Sequence[Partition], committed: Committed
        ) -> Mapping[Partition, int]:
            raise StoreUnavailable

    async with running(KafkaSource(broker.settings(topic), Away(Ledger()))) as source:
        await until(lambda: source.progress().unknown == {(topic, 0)}, LONG)
        assert not source.progress().partitions
        assert not source.progress().reads(datetime.now(UTC), SILENT)
