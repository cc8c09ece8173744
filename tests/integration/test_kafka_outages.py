"""The Kafka source while the broker is away, silent, late, or has lost its memory (R39)."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from monitor.demo.broker import EmbeddedBroker, create_topic
from monitor.sources.kafka import KafkaSource
from monitor.sources.progress import SourceState
from tests.support.kafka import JOIN, Broker, Ledger, LedgerHandler, numbers, running
from tests.support.until import until

LONG = 20.0


async def test_reads_on_after_the_broker_was_away(broker: Broker) -> None:
    if broker.pid is None:
        pytest.skip("the broker is not ours to stop")
    topic = await broker.topic(partitions=1)
    handler = LedgerHandler(Ledger())
    async with running(KafkaSource(broker.settings(topic), handler)) as source:
        await broker.send(topic, *numbers(0, 5))
        await until(lambda: len(handler.ledger.done) == 5, LONG)
        seen = source.progress().partitions[topic, 0].polled
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(3)  # the outage itself: longer than a heartbeat, a fetch and a session
            assert source.progress().state is SourceState.JOINED
        finally:
            os.kill(broker.pid, signal.SIGCONT)
        await broker.send(topic, *numbers(5, 10))
        await until(lambda: len(handler.ledger.done) == 10, JOIN)
        now = source.progress().partitions[topic, 0].polled
        assert seen is not None
        assert now is not None
        assert now > seen
    assert handler.ledger.values() == numbers(0, 10)


async def test_a_silent_broker_is_called_anew() -> None:
    with EmbeddedBroker() as embedded:
        own = Broker(embedded.bootstrap_servers, embedded.pid)
        topic = await own.topic(partitions=1)
        handler = LedgerHandler(Ledger())
        settings = own.settings(topic, restart_after_seconds=1.5, stop_seconds=0.5, request_timeout_ms=4_000)
        async with running(KafkaSource(settings, handler)) as source:
            await own.send(topic, b"0")
            await until(lambda: len(handler.ledger.done) == 1, LONG)
            os.kill(embedded.pid, signal.SIGSTOP)
            try:
                await until(lambda: source.progress().restarts == 1, LONG)
            finally:
                os.kill(embedded.pid, signal.SIGCONT)
            await own.send(topic, b"1")
            await until(lambda: len(handler.ledger.done) == 2, JOIN)
        assert handler.ledger.values() == [b"0", b"1"]


async def test_waits_for_a_broker_and_a_topic_that_come_later() -> None:
    with EmbeddedBroker() as embedded:
        address = embedded.bootstrap_servers
    port = int(address.rpartition(":")[2])
    own = Broker(address, 1)
    handler = LedgerHandler(Ledger())
    source = KafkaSource(own.settings("late"), handler)
    async with running(source, connected=False):
        await until(lambda: source.progress().state is SourceState.CONNECTING, LONG)
        with EmbeddedBroker(port) as embedded:
            assert embedded.bootstrap_servers == address
            await create_topic(address, "late", 1)
            await own.send("late", b"0")
            await until(lambda: len(handler.ledger.done) == 1, JOIN)
            await source.stop()


async def test_stops_at_once_while_the_broker_is_away() -> None:
    source = KafkaSource(Broker("127.0.0.1:9", 1).settings("none"), LedgerHandler(Ledger()))
    async with running(source, connected=False):
        await until(lambda: source.progress().state is SourceState.CONNECTING, LONG)
        async with asyncio.timeout(5):
            await source.stop()
    assert source.progress().state is SourceState.STOPPED


async def test_a_log_that_began_anew_is_read_from_its_beginning() -> None:
    with EmbeddedBroker() as embedded:
        own = Broker(embedded.bootstrap_servers, embedded.pid)
        topic = await own.topic(partitions=1)
        handler = LedgerHandler(Ledger(positions={(topic, 0): 500}))
        await own.send(topic, *numbers(0, 5))
        async with running(KafkaSource(own.settings(topic), handler)) as source:
            await until(lambda: len(handler.ledger.done) == 5, LONG)
            assert source.progress().resets == 1
