"""What a worker makes of the engine: a backlog drained by one ``jiezhu run``, against the bare engine on the same texts."""

from __future__ import annotations

import asyncio
import itertools
import os
import statistics
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from aiokafka import AIOKafkaProducer

from detectors.text import normalise, turn_windows
from monitor.clock import SystemClock
from monitor.demo.stage import TOPIC, Stage
from tests.benchmarks.gauges import Gauges
from tests.benchmarks.traffic import calm, record

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(900)]

EXCHANGES = 750
CONVERSATIONS = 200
ROUNDS = 2
WITHIN = 300.0  # seconds for a backlog
POLL = 2.0  # telling the figures costs the worker time
STAGES = ("read", "load", "fold", "detect", "decide", "write")


@dataclass(frozen=True)
class Rate:
    """Turns a second, by the clock on the wall and by that of the processor."""

    wall: float
    cpu: float


def the_backlog():
    return list(itertools.islice(calm(CONVERSATIONS), EXCHANGES))


def bare(engine, backlog):
    """The engine alone on what the pipeline gives it: the windows of each user turn, each reply."""
    calls = [
        texts
        for exchange in backlog
        for texts in ([w.text for w in turn_windows(normalise(exchange.user).text)], [exchange.reply])
    ]
    wall, cpu = time.perf_counter(), time.process_time()
    for texts in calls:
        engine.encode(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Rate(len(calls) / wall, len(calls) / cpu)


async def drained(folder, backlog):
    """A new worker, whose topic holds the backlog; timed from the end of its first batches to that of its last."""
    clock = SystemClock()
    stage = Stage(folder, clock, nobody_hears, {})
    async with AsyncExitStack() as stack:
        await stage.open(stack)
        await fill(stage, backlog, clock)
        (worker,) = stage.start_workers(stack, 1)
        await worker.wait_serving()
        end = time.monotonic() + WITHIN
        first = last = await Gauges.of(worker.url)
        while turns(last) < 2 * len(backlog) and time.monotonic() < end:
            await asyncio.sleep(POLL)
            last = await Gauges.of(worker.url)
            if not turns(first):
                first = last
    done = turns(last) - turns(first)
    stages = " ".join(
        f"{stage} {1000 * last.mean_since(first, 'jiezhu_batch_seconds', stage=stage):.0f}"
        for stage in STAGES
    )
    batches = last.total("jiezhu_batch_records_count") - first.total("jiezhu_batch_records_count")
    wall = written_at(last) - written_at(first)
    cpu = last.total("process_cpu_seconds_total") - first.total("process_cpu_seconds_total")
    resident = last.total("process_resident_memory_bytes") / 2**20
    print(
        f"\n{done:.0f} turns in {batches:.0f} batches, {1000 * wall / batches:.0f} ms each, of that ms {stages};"
        f" the worker has {resident:.0f} MiB"
    )
    assert turns(last) == 2 * len(backlog)
    return Rate(done / wall, done / cpu)


def turns(gauges):
    return gauges.total("jiezhu_turns_total")


def written_at(gauges):
    """When the last batch was in the database, exactly."""
    return gauges.at - gauges.total("jiezhu_last_progress_age_seconds", part="pipeline")


async def nobody_hears(received):
    del received


async def fill(stage, backlog, clock):
    """Turns of the last minute, a conversation's in order."""
    producer = AIOKafkaProducer(bootstrap_servers=stage.broker.bootstrap_servers, acks="all", linger_ms=20)
    await producer.start()
    begun = clock.now() - timedelta(minutes=1)
    for number, exchange in enumerate(backlog):
        for late, role in enumerate(("user", "assistant")):
            at = begun + timedelta(milliseconds=50 * number + 20 * late)
            await producer.send(TOPIC, record(exchange, role, number, at), key=exchange.conversation.encode())
    await producer.stop()


async def test_a_backlog_against_the_bare_engine(tmp_path, engine):
    backlog = the_backlog()
    bare(engine, backlog[:20])
    pipelines, engines = [], [await asyncio.to_thread(bare, engine, backlog)]
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        pipelines.append(await drained(folder, backlog))
        engines.append(await asyncio.to_thread(bare, engine, backlog))
    for name, rates in (("pipeline", pipelines), ("bare engine", engines)):
        print(f"{name}, turns/s (a CPU second): " + ", ".join(f"{r.wall:.1f} ({r.cpu:.1f})" for r in rates))
    ratio = statistics.median(p.wall for p in pipelines) / statistics.median(e.wall for e in engines)
    of_cpu = statistics.median(p.cpu for p in pipelines) / statistics.median(e.cpu for e in engines)
    print(f"pipeline / bare engine: {ratio:.2f}; a CPU second {of_cpu:.2f}; load {os.getloadavg()[0]:.1f}")
    assert ratio >= 0.85
