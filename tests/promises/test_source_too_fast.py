"""Row 12: the source is twenty times faster than the encoder. Memory stays flat, and nothing is dropped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.crew import crew, get
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.memory import MIB, resident, slope
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("workers")]

CONVERSATIONS = 24  # all of them live and their windows full, so that nothing but a queue could grow
WARM = CONVERSATIONS * 64
WORDS = "|" + "a" * 700
TIMES = 20
STEEPEST = 1 * MIB  # a minute
EACH = 0.2  # seconds a text; users' texts and replies are scored side by side
FASTEST = 2 / EACH  # records a second
CRISES = 20


async def test_source_twenty_times_faster_than_the_encoder(
    broker: Broker, tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    seconds = form.pick(60, 900)
    ledger = Ledger()
    async with crew(
        broker, tmp_path, None, new_database(), WATCHING__GRACE_SECONDS="0.5", KAFKA__BATCH_RECORDS="32"
    ) as team:
        worker = team.add()
        await team.ready()
        team.hear_into(ledger)
        talk = _talk(team.clock.now())
        sent = await put(broker.bootstrap_servers, team.topic, [next(talk) for _ in range(WARM)])
        await team.until_all_read(sent, within=60)

        team.pace(EACH)
        begun, before = time.monotonic(), team.read()
        flood = asyncio.create_task(_flood(team.broker, team.topic, talk, seconds))
        points, reasons, paused = [], set[str](), 0
        while (now := time.monotonic() - begun) < seconds:
            if now > seconds / 2:  # what it begins with has settled
                points.append((now / 60, float(resident(worker.pid))))
            reasons.update((await get(f"{worker.url}/readyz")).json()["reasons"])
            paused += (
                'jiezhu_source_paused{reason="back_pressure"} 1.0'
                in (await get(f"{worker.url}/metrics")).text
            )
            await asyncio.sleep(0.5)
        done = team.read() - before
        sent += await flood
        times = (sent - before) / max(done, 1)

        team.pace(0)
        due = [f"row twelve {number}" for number in range(CRISES)]
        team.know(due)
        said_at = team.clock.now()
        owe_all(ledger, due, said_at, timedelta(seconds=600))
        last = [one for name in due for one in exchange(name, "crisis", "sleep tip", said_at)]
        sent += await put(broker.bootstrap_servers, team.topic, last)
        await team.until_all_read(sent, within=60 + (sent - before) / 50)
        await until(lambda: not ledger.missing, 30, 0.1)
        await team.until_settled()
        verdict = ledger.verdict()
        growth = slope(points)
        tell(
            12,
            f"the source is faster than the encoder ({team.database.partition(':')[0]})",
            f"{times:.0f} times for {seconds} s, memory {growth / MIB:+.2f} MiB a minute, paused in {paused} of "
            f"{len(points) * 2} looks, {sent} sent, {sent - team.read()} dropped, {verdict}",
        )
        assert verdict.kept
        assert growth <= STEEPEST
        assert paused > 0
        assert times >= TIMES
        assert reasons == set(), "slow is not unready"


def _talk(at: datetime) -> Iterator[Said]:
    number = 0
    while True:
        said_at = at + timedelta(milliseconds=number)
        yield from exchange(
            f"talk {number % CONVERSATIONS}", f"hello{WORDS}", f"chat{WORDS}", said_at, number
        )
        number += 1


async def _flood(broker: Broker, topic: str, talk: Iterator[Said], seconds: float) -> int:
    """More than ``TIMES`` as fast as the encoder, evenly."""
    sent, part = 0, int(FASTEST * TIMES * 1.2 / 2)
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        sent += await put(broker.bootstrap_servers, topic, [next(talk) for _ in range(part)])
        await asyncio.sleep(max(0.0, sent / (2 * part) - now))
    return sent
