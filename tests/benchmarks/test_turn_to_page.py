"""From the reply that fails a crisis turn to the page that the pager has, over two real workers; their memory and lag."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from datetime import timedelta

import numpy as np
import pytest
from aiokafka import AIOKafkaProducer

from monitor.clock import SystemClock
from monitor.demo.stage import TOPIC, Stage, conversation_prefix
from tests.benchmarks.gauges import Gauges
from tests.benchmarks.traffic import mixed, record

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(400)]

TURNS_A_SECOND = 15
SECONDS = 60
WARMING = 5.0  # not measured: the first batches of a new process
REPLY_AFTER = 1.0
CONVERSATIONS = 40
STAGES = ("read", "load", "fold", "detect", "decide", "write")


class Run:
    """One run: who was paged when, and when the reply was handed to Kafka."""

    def __init__(self, folder):
        self.clock = SystemClock()
        self.stage = Stage(folder, self.clock, self._heard, {"grace_seconds": 0})
        self.paged = {}
        self.handed = {}

    async def _heard(self, received):
        if received.first and received.content["kind"] == "page":
            self.paged[conversation_prefix(received)] = received.at

    async def play(self):
        """Hand over turns at their pace, whatever the workers do."""
        begun = self.clock.now()
        pace = 2 / TURNS_A_SECOND
        exchanges = zip(range(int(SECONDS / pace)), mixed(CONVERSATIONS), strict=False)
        plan = sorted(
            (number * pace + (REPLY_AFTER if role == "assistant" else 0), number, role, exchange)
            for number, exchange in exchanges
            for role in ("user", "assistant")
        )
        producer = AIOKafkaProducer(bootstrap_servers=self.stage.broker.bootstrap_servers, acks="all")
        await producer.start()
        try:
            for after, number, role, exchange in plan:
                await asyncio.sleep((begun + timedelta(seconds=after) - self.clock.now()).total_seconds())
                now = self.clock.now()
                body = record(exchange, role, number, now)
                await producer.send(TOPIC, body, key=exchange.conversation.encode())
                if exchange.crisis and role == "assistant" and after > WARMING:
                    self.handed[self.stage.pseudonym(exchange.conversation)] = now
        finally:
            await producer.stop()

    def waits(self):
        """Seconds from reply to page; infinite where no page came."""
        return [
            min(
                ((at - handed).total_seconds() for key, at in self.paged.items() if name.startswith(key)),
                default=float("inf"),
            )
            for name, handed in self.handed.items()
        ]


async def test_turn_to_page(tmp_path, cache_dir):
    run = Run(tmp_path)
    async with AsyncExitStack() as stack:
        await run.stage.open(stack)
        workers = run.stage.start_workers(stack, 2)
        await run.stage.wait_for(workers)
        before = [await Gauges.of(worker.url) for worker in workers]
        load = os.getloadavg()[0]
        await run.play()
        await asyncio.sleep(3)
        after = [await Gauges.of(worker.url) for worker in workers]
    waits = run.waits()
    half, most, nearly_all = np.quantile(waits, (0.5, 0.9, 0.99), method="higher")
    print(
        f"\nreply to page at {TURNS_A_SECOND} turns/s, {len(waits)} pages:"
        f" p50 {half:.3f} s, p90 {most:.3f} s, p99 {nearly_all:.3f} s; load {load:.1f} → {os.getloadavg()[0]:.1f}"
    )
    lags = []
    for worker, first, last in zip(workers, before, after, strict=True):
        resident = last.total("process_resident_memory_bytes") / 2**20
        lag = last.quantile_since(first, "jiezhu_event_loop_lag_seconds", 0.99)
        turns = last.total("jiezhu_turns_total")
        stages = " ".join(
            f"{stage} {1000 * last.mean_since(first, 'jiezhu_batch_seconds', stage=stage):.0f}"
            for stage in STAGES
        )
        busy = last.total("process_cpu_seconds_total") - first.total("process_cpu_seconds_total")
        print(
            f"{worker.name}: {turns:.0f} turns, {resident:.0f} MiB, loop lag p99 ≤ {1000 * lag:.0f} ms, batch stages ms {stages}, {busy:.1f} s of CPU"
        )
        assert resident <= 1536
        lags.append(lag)
    assert max(lags) <= 0.1
    assert half <= 0.5
    assert nearly_all <= 2
