"""Row 1: SIGKILL of a random worker of two at random points, with crises among the events."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import Said, crowd, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("workers")]

LEASE = 15.0  # a request without an answer is made again after this
PARTS = 5  # in which the events are sent
WITHIN = timedelta(seconds=90)


async def test_killed_at_random(
    broker: Broker, tmp_path: Path, sqlite_url: str, form: Form, tell: Tell
) -> None:
    kills, events, crises = form.pick((10, 10_000, 100), (100, 100_000, 1_000))
    chance = random.Random(1)
    ledger = Ledger()
    async with crew(
        broker, tmp_path, None, sqlite_url, WATCHING__GRACE_SECONDS="0.5", DATABASE__TIMEOUT_SECONDS="5"
    ) as team:
        team.add()
        team.add()
        await team.ready()
        team.hear_into(ledger)
        killing = asyncio.create_task(_kill(team, kills, chance))
        now = team.clock.now()
        said = list(crowd("row one", events, crises, now))
        due = [
            one.conversation for one in said if one.role == "user" and one.conversation.endswith("dropped")
        ]
        team.know(due)
        owe_all(ledger, due, now, WITHIN * kills)
        await _send(team, said, killing)
        await killing
        await until(lambda: not ledger.missing, LEASE + 60, 0.1)
        await team.until_all_read(len(said), within=60)
        await team.until_settled()
        verdict = ledger.verdict()
        tell(1, "a worker dies", f"{kills} kills, {events} events, {verdict}")
        assert verdict.kept
        assert verdict.requests <= kills


async def _send(team: Crew, said: list[Said], killing: asyncio.Task[None]) -> None:
    """In parts, so that there is traffic as long as somebody is killed."""
    size = len(said) // PARTS
    for part in range(PARTS):
        await put(team.broker.bootstrap_servers, team.topic, said[part * size : (part + 1) * size])
        if not killing.done():
            await asyncio.sleep(1)


async def _kill(team: Crew, kills: int, chance: random.Random) -> None:
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.2, 2.0))
        worker = chance.choice(team.workers)
        worker.kill()
        await asyncio.sleep(chance.uniform(0, 0.5))
        worker.start()
        await worker.wait_serving()
