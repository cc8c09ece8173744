"""The Kafka source against a broker: embedded, or the one that JIEZHU_KAFKA__BOOTSTRAP_SERVERS names."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from monitor.decode import Rejected, attempt, find_decoder
from monitor.demo.broker import create_topic
from monitor.errors import LineStopped
from monitor.sources.dead_letters import DeadLetterTopic, DeadLetterUndelivered
from monitor.sources.intake import LINE_STOPPED
from monitor.sources.kafka import KafkaSource
from monitor.sources.record import Record
from monitor.standstill import SILENT
from tests.support.kafka import JOIN, Broker, Ledger, LedgerHandler, numbers, running
from tests.support.until import until

LONG = 20.0
AHEAD = 400  # records that wait to be worked on


async def test_reads_all_in_order_and_commits(broker: Broker) -> None:
    topic = await broker.topic(partitions=2)
    handler = LedgerHandler(Ledger())
    await broker.send(topic, *numbers(0, 200), partition=0)
    await broker.send(topic, *numbers(200, 300), partition=1)

    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 300, LONG)

    assert handler.ledger.values(0) == numbers(0, 200)
    assert handler.ledger.values(1) == numbers(200, 300)
    assert max(len(batch) for batch in handler.batches) <= 64
    assert len(handler.batches) < 30
    assert (await broker.committed(topic, 0), await broker.committed(topic, 1)) == (200, 100)


async def test_poison_takes_no_neighbour_with_it(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    decoder = find_decoder("native", 1 << 20)
    found: Counter[str] = Counter()

    async def decode(batch: Sequence[Record]) -> None:
        for record in batch:
            outcome = attempt(
                decoder,
                record.value,
                now=datetime.now(UTC),
                pseudonymise=lambda kind, _: kind,
                sequence=record.offset,
            )
            found[outcome.reason if isinstance(outcome, Rejected) else "turn"] += 1

    good = b'{"event_id":"e","conversation_id":"c","role":"user","text":"","at":"2026-03-01T03:00:00Z"}'
    poison = [b"\xff\xfe", None, b"[]", b"{", b'{"event_id":1}', b"[" * 200_000, b'"\\ud800"']
    await broker.send(topic, good, *poison, good)
    async with running(KafkaSource(broker.settings(topic), LedgerHandler(Ledger(), decode))):
        await until(lambda: found.total() == 9, LONG)

    assert found == {
        "turn": 2, "not_utf8": 1, "null_body": 1, "not_an_object": 2, "not_json": 1, "wrong_type": 1, "too_deep": 1
    }  # fmt: skip


async def test_failed_batch_is_read_again_and_nothing_skipped(broker: Broker) -> None:
    """R37. What comes after it does not commit over what failed."""
    topic = await broker.topic(partitions=2)
    refusals = 3

    async def refuse(batch: Sequence[Record]) -> None:
        nonlocal refusals
        if refusals and any(record.value == b"7" for record in batch):
            refusals -= 1
            raise RuntimeError

    handler = LedgerHandler(Ledger(), refuse)
    async with running(KafkaSource(broker.settings(topic, batch_max_records=3), handler)):
        await broker.send(topic, *numbers(0, 20))
        await broker.send(topic, *numbers(100, 110), partition=1)
        await until(lambda: len(handler.ledger.done) == 30, LONG)

    assert refusals == 0
    assert handler.ledger.values(0) == numbers(0, 20)
    assert handler.ledger.values(1) == numbers(100, 110)


async def test_what_failed_is_read_after_a_restart(broker: Broker) -> None:
    """R37. Nothing commits by itself: the next process begins with the one that failed."""
    topic = await broker.topic(partitions=1)
    ledger = Ledger()

    async def refuse(batch: Sequence[Record]) -> None:
        if any(record.value == b"5" for record in batch):
            raise RuntimeError

    await broker.send(topic, *numbers(0, 10))
    first = LedgerHandler(ledger, refuse)
    async with running(KafkaSource(broker.settings(topic, batch_max_records=1), first)) as source:
        await until(lambda: source.progress().failures >= 3, LONG)
    assert ledger.values() == numbers(0, 5)
    assert await broker.committed(topic) == 5

    async with running(KafkaSource(broker.settings(topic), LedgerHandler(ledger))):
        await until(lambda: len(ledger.done) == 10, LONG)
    assert ledger.values() == numbers(0, 10)


async def test_members_come_and_go_without_duplicates(broker: Broker) -> None:
    topic = await broker.topic(partitions=4)
    ledger = Ledger()

    async def work(_batch: Sequence[Record]) -> None:
        await asyncio.sleep(0.01)  # the work that a rebalance must wait for

    first, second = LedgerHandler(ledger, work), LedgerHandler(ledger, work)
    settings = broker.settings(topic, batch_max_records=8)
    stopping = asyncio.Event()
    sent = 0

    def near() -> bool:
        """The work is never far behind: what is left to read at the end is bounded, however fast the machine."""
        return sent < len(ledger.done) + AHEAD

    async def produce() -> None:
        nonlocal sent
        async with broker.producer() as producer:
            while not stopping.is_set():
                await until(near, LONG)
                await producer.send_and_wait(topic, str(sent).encode(), partition=sent % 4)
                sent += 1

    async with running(KafkaSource(settings, first)):
        producing = asyncio.create_task(produce())
        try:
            await until(lambda: len(ledger.done) > 50, LONG)
            async with running(KafkaSource(settings, second)):
                await until(lambda: bool(second.batches) and len(first.assignments) > 1, JOIN)
                await until(lambda: len(second.assignments[-1]) == len(first.assignments[-1]) == 2, JOIN)
            await until(lambda: len(first.assignments[-1]) == 4, JOIN)
        finally:
            stopping.set()
            await producing
        await until(lambda: len(ledger.done) >= sent, LONG)

    assert sorted(int(value or b"-1") for value in ledger.values()) == list(range(sent))
    assert ledger.conflicts == 0
    handled = Counter(record.value for batch in (*first.batches, *second.batches) for record in batch)
    assert [value for value, times in handled.items() if times > 1] == []


async def test_a_backlog_of_one_partition_does_not_make_the_others_wait(broker: Broker) -> None:
    topic = await broker.topic(partitions=3)
    sent = [f"{number:<6000}".encode() for number in range(300)]
    for partition in range(3):
        await broker.send(topic, *sent, partition=partition)
    handler = LedgerHandler(Ledger())
    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 900, LONG)
    assert all(handler.ledger.values(partition) == sent for partition in range(3))
    found = [record.partition[1] for record in handler.ledger.done]
    first_done = min(max(at for at, place in enumerate(found) if place == one) for one in range(3))
    had = Counter(found[: first_done + 1])
    assert min(had[partition] for partition in range(3)) >= 20, (
        "a backlog in one, and the others were read, too"
    )


async def test_a_pause_keeps_membership_until_every_reason_is_gone(broker: Broker) -> None:
    topic = await broker.topic(partitions=2)
    handler = LedgerHandler(Ledger())
    settings = broker.settings(topic)
    async with running(KafkaSource(settings, handler)) as source:
        await broker.send(topic, b"before")
        await until(lambda: len(handler.ledger.done) == 1, LONG)
        source.pause("back_pressure")
        source.pause("a_person", [(topic, 0)])
        await broker.send(topic, b"zero", partition=0)
        await broker.send(topic, b"one", partition=1)
        # longer than the group waits for a member that is gone; the broker is asked, not the clock
        async with asyncio.timeout(JOIN):
            await asyncio.sleep(settings.session_timeout_ms / 1000 * 1.5)
        assert len(handler.ledger.done) == 1
        assert all(known.held for known in source.progress().partitions.values())
        source.resume("back_pressure")
        await until(lambda: len(handler.ledger.done) == 2, LONG)
        assert handler.ledger.done[-1].value == b"one"
        source.resume("a_person")
        await until(lambda: len(handler.ledger.done) == 3, LONG)
        assert len(handler.assignments) == 1
        assert handler.revocations == []


async def test_a_stopped_line_goes_on_where_it_stopped(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    stopped = False

    async def stop_line(batch: Sequence[Record]) -> None:
        nonlocal stopped
        if not stopped and any(record.value == b"3" for record in batch):
            stopped = True
            raise LineStopped

    handler = LedgerHandler(Ledger(), stop_line)
    await broker.send(topic, *numbers(0, 6))
    async with running(KafkaSource(broker.settings(topic, batch_max_records=1), handler)) as source:
        await until(lambda: LINE_STOPPED in source.progress().holds, LONG)
        assert handler.ledger.values() == numbers(0, 3)
        source.resume(LINE_STOPPED)
        await until(lambda: len(handler.ledger.done) == 6, LONG)
    assert handler.ledger.values() == numbers(0, 6)


async def test_hostile_headers_and_large_records(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    handler = LedgerHandler(Ledger())
    headers = [
        ("broken", b"\xff\xfe\x00"), ("reply_to", topic.encode()), ("content-type", b"\xc3\x28"),
        ("correlation_id", b"\xff"), ("", b""), ("twice", b"1"), ("twice", b"2"),
    ]  # fmt: skip
    large = b"x" * 1_000_000
    async with broker.producer() as producer:
        await producer.send_and_wait(topic, b"first", partition=0, headers=headers)
        await producer.send_and_wait(topic, large, partition=0)
        await producer.send_and_wait(topic, b"last", partition=0, key=b"\xff", timestamp_ms=2**62)
    async with running(KafkaSource(broker.settings(topic), handler)):
        await until(lambda: len(handler.ledger.done) == 3, LONG)
    first, second, last = handler.ledger.done
    assert first.headers == tuple(headers)
    assert second.value == large
    assert (last.value, last.key, last.timestamp) == (b"last", b"\xff", None)
    assert len(await broker.read(topic, 3)) == 3  # and no answer went to reply_to


BROKEN_NAME = """
import asyncio, sys
from aiokafka import AIOKafkaProducer

class Broken(str):
    def encode(self, *_): return b"\\xff"

async def send(servers, topic):
    producer = AIOKafkaProducer(bootstrap_servers=servers)
    await producer.start()
    for value, headers in ((b"0", []), (b"1", [(Broken("x"), b"")]), (b"2", [])):
        await producer.send_and_wait(topic, value, partition=0, headers=headers)
    await producer.stop()

asyncio.run(send(*sys.argv[1:]))
"""


async def test_a_record_that_the_library_cannot_read_holds_nobody_up(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    handler = LedgerHandler(Ledger())
    # only the library's Python half lets such a name pass
    sending = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BROKEN_NAME, broker.bootstrap_servers, topic,
        env={**os.environ, "AIOKAFKA_NO_EXTENSIONS": "1"},
    )  # fmt: skip
    assert await asyncio.wait_for(sending.wait(), LONG) == 0
    async with running(KafkaSource(broker.settings(topic), handler)) as source:
        await until(lambda: len(handler.ledger.done) == 3, JOIN)
        assert source.progress().unreadable == 1
    assert handler.ledger.values() == [b"0", None, b"2"]
    assert [record.offset for record in handler.ledger.done] == [0, 1, 2]


async def test_stopping_finishes_the_batch_in_hand(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(_batch: Sequence[Record]) -> None:
        begun.set()
        await go_on.wait()

    handler = LedgerHandler(Ledger(), wait)
    await broker.send(topic, *numbers(0, 5))
    async with running(source := KafkaSource(broker.settings(topic, batch_max_records=2), handler)):
        await asyncio.wait_for(begun.wait(), LONG)
        stopping = asyncio.create_task(source.stop())
        asyncio.get_running_loop().call_later(0.3, go_on.set)
        await asyncio.wait_for(stopping, LONG)
    assert handler.ledger.values() == numbers(0, 2)
    assert handler.revocations == [[(topic, 0)]]
    assert await broker.committed(topic) == 2


async def test_stopping_does_not_wait_for_ever(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    begun = asyncio.Event()

    async def hang(_batch: Sequence[Record]) -> None:
        begun.set()
        await asyncio.Event().wait()

    handler = LedgerHandler(Ledger(), hang)
    await broker.send(topic, b"0")
    async with running(source := KafkaSource(broker.settings(topic, stop_seconds=0.3), handler)):
        await asyncio.wait_for(begun.wait(), LONG)
        async with asyncio.timeout(10):
            await source.stop()
    assert handler.ledger.done == []
    assert await broker.committed(topic) is None


async def test_progress_knows_lag_and_when_it_is_made_up(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    go_on = asyncio.Event()

    async def wait(_batch: Sequence[Record]) -> None:
        await go_on.wait()

    await broker.send(topic, *numbers(0, 30))
    handler = LedgerHandler(Ledger(), wait)
    source = KafkaSource(broker.settings(topic, batch_max_records=10), handler)
    assert not source.caught_up((topic, 0))
    async with running(source):
        await until(lambda: bool(handler.batches), LONG)
        progress = source.progress()
        assert progress.partitions[topic, 0].lag == 30
        assert progress.handling_since is not None
        assert not source.caught_up((topic, 0))
        go_on.set()
        await until(lambda: source.caught_up((topic, 0)), LONG)
        await until(lambda: source.progress().handling_since is None, LONG)
        assert source.progress().last_done is not None


async def test_dead_letters_go_to_their_topic_sealed(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    settings = broker.settings(topic)
    await create_topic(broker.bootstrap_servers, settings.dead_letters, 1)
    async with running(KafkaSource(settings, LedgerHandler(Ledger()))) as source:
        letters = DeadLetterTopic(lambda: source.client.broker, settings.dead_letters)
        await letters.publish(reason="not_json", partition=(topic, 0), offset=7, sealed=b"\x00sealed\xff")
        await letters.publish(reason="too_large", partition=(topic, 0), offset=8, sealed=b"x" * (5 << 20))
        first, second = await broker.read(settings.dead_letters, 2)
    assert first.key is None
    assert first.value == b"\x00sealed\xff"
    assert dict(first.headers).items() >= {
        "reason": b"not_json", "source-topic": topic.encode(), "source-partition": b"0", "source-offset": b"7",
        "payload": b"sealed",
    }.items()  # fmt: skip
    assert (second.value, dict(second.headers)["payload"]) == (b"", b"too_large")
    with pytest.raises(DeadLetterUndelivered):
        await letters.publish(reason="not_json", partition=(topic, 0), offset=7, sealed=b"")


async def test_a_member_that_gets_no_partition_has_been_told_so(broker: Broker) -> None:
    topic = await broker.topic(partitions=1)
    ledger = Ledger()
    settings = broker.settings(topic)

    def rests(source: KafkaSource) -> bool:
        seen = source.progress()
        return not seen.joining and not seen.partitions and not seen.unknown

    async with (
        running(KafkaSource(settings, LedgerHandler(ledger))) as one,
        running(KafkaSource(settings, LedgerHandler(ledger))) as other,
    ):
        both = (one, other)
        await until(lambda: [rests(one), rests(other)].count(True) == 1, LONG)
        await until(lambda: all(s.progress().reads(datetime.now(UTC), SILENT) for s in both), LONG)
