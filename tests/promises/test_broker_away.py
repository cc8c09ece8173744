"""Row 3: the broker stands still, or is killed and comes back empty (R39)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.demo.broker import EmbeddedBroker, create_topic
from monitor.demo.ports import free_port
from tests.support import prometheus
from tests.support.crew import PARTITIONS, Crew, crew, get, until_health
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.memory import MIB, resident
from tests.support.stream import Said, crowd, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("patience")]

RED_WITHIN = 35.0  # seconds: the broker counts as silent after 20
AGAIN_WITHIN = 30.0
WORST_GROWTH = 50 * MIB
SENSIBLE = {
    "source_connecting",
    "broker_silent",
    "reading_stalled_broker_silent",
    "reading_stalled_broker_away",
}
OUTSIDE_GRACE = 120.0  # so long may the dead-man's switch stay away before a service outside rings
EVENTS = 400
CRISES = 8


@prometheus.needs("prometheus")
async def test_it_stands_still(
    tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    away = form.pick(60.0, 600.0)
    ledger = Ledger()
    with EmbeddedBroker() as embedded:
        broker = Broker(embedded.bootstrap_servers, embedded.pid)
        async with crew(broker, tmp_path, None, new_database(), WATCHING__GRACE_SECONDS="0.5") as team:
            team.add()
            team.add()
            await team.ready()
            team.hear_into(ledger)
            await _send(team, ledger, "before", within=AGAIN_WITHIN)
            await until(lambda: not ledger.missing, AGAIN_WITHIN, 0.05)
            with prometheus.running(
                tmp_path, *(one.url.removeprefix("http://") for one in team.workers)
            ) as seen:
                async with watched(team, seen) as watch:
                    await until(lambda: watch.beats > 0, 20, 0.1)
                    os.kill(embedded.pid, signal.SIGSTOP)
                    try:
                        stopped = time.monotonic()
                        await asyncio.gather(
                            *(
                                until_health(one, lambda a: a["status"] != "ok", RED_WITHIN)
                                for one in team.workers
                            )
                        )
                        red = time.monotonic() - stopped
                        await asyncio.sleep(away - red)
                    finally:
                        os.kill(embedded.pid, signal.SIGCONT)
                    again = await _reads_again(team, ledger)
                    beats = watch.beats
                    await until(lambda: watch.beats > beats, AGAIN_WITHIN, 0.1)
            await until(lambda: not ledger.missing, 60, 0.1)
            await team.until_all_read(2 * EVENTS)
            await team.until_settled()
    verdict = ledger.verdict()
    tell(
        3,
        f"the broker stands still ({team.database.partition(':')[0]})",
        f"{away:g} s, unready after {red:.0f} s, heartbeat away for {watch.longest:.0f} s, reads again after "
        f"{again:.1f} s, memory +{max(watch.growth, 0) / MIB:.1f} MiB, {verdict}",
    )
    assert verdict.kept
    assert again < AGAIN_WITHIN
    assert watch.growth <= WORST_GROWTH
    assert "broker_silent" in watch.reasons <= SENSIBLE
    assert (watch.longest > OUTSIDE_GRACE) == form.long, "rings outside after two minutes, and not before"


async def test_it_is_killed_and_comes_back_empty(
    tmp_path: Path, new_database: Callable[[], str], tell: Tell
) -> None:
    ledger = Ledger()
    with EmbeddedBroker(free_port()) as embedded:
        broker = Broker(embedded.bootstrap_servers, embedded.pid)
        async with crew(broker, tmp_path, None, new_database(), WATCHING__GRACE_SECONDS="0.5") as team:
            team.add()
            team.add()
            await team.ready()
            team.hear_into(ledger)
            before = await _send(team, ledger, "before", within=AGAIN_WITHIN)
            await until(lambda: not ledger.missing, AGAIN_WITHIN, 0.05)
            await team.until_all_read(EVENTS)
            os.kill(embedded.pid, signal.SIGKILL)
            embedded.stop()
            await asyncio.sleep(3)
            embedded.start()
            for name, partitions in ((team.topic, PARTITIONS), (f"{team.topic}.dead", 1)):
                await create_topic(broker.bootstrap_servers, name, partitions)
            # a producer says again what it is not sure of; the new log is shorter than what was read of the old
            await put(broker.bootstrap_servers, team.topic, before[: EVENTS // 4])
            begun = time.monotonic()
            await team.until_all_read(EVENTS // 4, within=2 * AGAIN_WITHIN)
            again = time.monotonic() - begun
            await _reads_again(team, ledger)
            await until(lambda: not ledger.missing, 60, 0.1)
            await team.until_all_read(EVENTS + EVENTS // 4)
            await team.until_settled()
    verdict = ledger.verdict()
    tell(
        3,
        f"the broker is killed and comes back empty ({team.database.partition(':')[0]})",
        f"reads again after {again:.1f} s, {verdict}",
    )
    assert verdict.kept
    assert again < AGAIN_WITHIN


async def _send(team: Crew, ledger: Ledger, name: str, within: float) -> list[Said]:
    now = team.clock.now()
    said = list(crowd(name, EVENTS, CRISES, now))
    due = [one.conversation for one in said if one.role == "user" and one.conversation.endswith("dropped")]
    team.know(due)
    owe_all(ledger, due, now, timedelta(seconds=within))
    await put(team.broker.bootstrap_servers, team.topic, said)
    return said


async def _reads_again(team: Crew, ledger: Ledger) -> float:
    """Return the seconds until pages for what is said from now on have come from all partitions."""
    begun = time.monotonic()
    await _send(team, ledger, "after", within=2 * AGAIN_WITHIN)
    await until(lambda: not ledger.missing, 2 * AGAIN_WITHIN, 0.02)
    return time.monotonic() - begun


@dataclass(slots=True)
class Watch:
    """What is seen from outside; ``growth`` in bytes, of the worker that grew most."""

    growth: int = 0
    reasons: set[str] = field(default_factory=set)
    beats: int = 0
    longest: float = 0.0  # seconds without a beat


@asynccontextmanager
async def watched(team: Crew, seen: prometheus.Prometheus) -> AsyncIterator[Watch]:
    watch = Watch()
    before = {worker.pid: resident(worker.pid) for worker in team.workers}

    async def look() -> None:
        beaten = time.monotonic()
        while True:
            for worker in team.workers:
                watch.growth = max(watch.growth, resident(worker.pid) - before[worker.pid])
                assert (await get(f"{worker.url}/livez")).status_code == 200
                watch.reasons.update((await get(f"{worker.url}/readyz")).json()["reasons"])
            if await asyncio.to_thread(seen.firing, "JiezhuDeadMansSwitch"):
                beaten = time.monotonic()
                watch.beats += 1
            watch.longest = max(watch.longest, time.monotonic() - beaten)
            await asyncio.sleep(0.5)

    looking = asyncio.create_task(look())
    try:
        yield watch
    finally:
        looking.cancel()
        await asyncio.wait({looking})
    if not looking.cancelled():
        looking.result()
