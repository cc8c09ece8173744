"""Row 1: SIGKILL of a random worker of two at random points, with crises among the events."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import crowd, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

LEASE = 15.0  # a request without an answer is made again after this
IN_BETWEEN = 0.5  # so many kills come while the group still forms; before the others something is read
WITHIN = timedelta(seconds=90)


async def test_killed_at_random(
    broker: Broker, tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    kills, events, crises = form.pick((10, 10_000, 100), (100, 100_000, 1_000))
    chance = random.Random(1)
    ledger = Ledger()
    async with crew(
        broker,
        tmp_path,
        None,
        new_database(),
        WATCHING__GRACE_SECONDS="0.5",
        DATABASE__TIMEOUT_SECONDS="5",
    ) as team:
        team.add()
        team.add()
        await team.ready()
        team.hear_into(ledger)
        now = team.clock.now()
        said = list(crowd("row one", events, crises, now))
        due = [
            one.conversation for one in said if one.role == "user" and one.conversation.endswith("dropped")
        ]
        team.know(due)
        owe_all(ledger, due, now, WITHIN * kills)
        amid, part = 0, events // kills
        for kill in range(kills):
            # one part a kill, so that something is left to read whenever somebody dies
            await put(broker.bootstrap_servers, team.topic, said[kill * part : (kill + 1) * part])
            amid += await _kill(team, (kill + 1) * part, chance)
        await team.until_all_read(len(said), within=form.pick(60, 1200))  # what 100 deaths have left to read
        await until(lambda: not ledger.missing, LEASE + 60, 0.1)
        await team.until_settled()
        verdict = ledger.verdict()
        tell(
            1,
            f"a worker dies ({team.database.partition(':')[0]})",
            f"{kills} kills, {amid} amid reading, {events} events, {verdict}",
        )
        assert verdict.kept
        assert verdict.requests <= kills
        assert amid >= kills * (1 - IN_BETWEEN) / 2  # or it was no test


async def _kill(team: Crew, sent: int, chance: random.Random) -> bool:
    """Return whether it came between the first and the last of what there was to read."""
    before = team.read()
    if chance.random() > IN_BETWEEN:
        await until(lambda: team.read() > before, 30, 0.02)
    await asyncio.sleep(chance.uniform(0, 0.5))
    worker = chance.choice(team.workers)
    amid = before < team.read() < sent
    worker.kill()
    await asyncio.sleep(chance.uniform(0, 0.5))
    worker.start()
    await worker.wait_serving()
    return amid
