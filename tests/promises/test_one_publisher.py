"""Row 26: one worker publishes at any time, through kills and one that is stopped amid it; no turn is lost or counted twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from monitor.demo.workers import Worker
from tests.support.crew import Crew, crew
from tests.support.forked import warm
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.stream import crowd, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

ELECTED_WITHIN = 60.0  # two leases, and all that a busy machine adds


class Watch:
    """Asks every worker again and again whether it publishes."""

    def __init__(self, team: Crew) -> None:
        self._team = team
        self.looks = 0
        self.most = 0
        self.elected: Worker | None = None
        self.shown: dict[str, float] = {}

    async def run(self) -> None:
        async with httpx2.AsyncClient(timeout=1.0) as client:
            while True:
                found = await asyncio.gather(*(self._ask(client, one) for one in self._team.workers))
                elected = [worker for worker, says in zip(self._team.workers, found, strict=True) if says]
                self.elected = elected[0] if elected else None
                self.most = max(self.most, len(elected))
                self.looks += 1
                await asyncio.sleep(0.1)

    async def _ask(self, client: httpx2.AsyncClient, worker: Worker) -> bool:
        try:
            lines = (await client.get(f"{worker.url}/metrics")).text.splitlines()
        except httpx2.HTTPError:
            return False
        values = dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        if values.get("jiezhu_publisher") != "1.0":
            assert not any(name.startswith("jiezhu_rate{") for name in values)
            return False
        self.shown = {name: float(value) for name, value in values.items() if name.startswith("jiezhu_rate")}
        return True


async def test_one_publishes_whatever_dies_or_stands_still(
    broker: Broker, tmp_path: Path, sqlite_url: str, form: Form, tell: Tell
) -> None:
    await asyncio.to_thread(warm)
    rounds, events = form.pick((1, 3_000), (6, 40_000))
    chance = random.Random(26)
    async with crew(
        broker,
        tmp_path,
        None,
        sqlite_url,
        WATCHING__GRACE_SECONDS="0.5",
        DATABASE__TIMEOUT_SECONDS="5",
        PUBLISHING__PERIOD_SECONDS="5",
    ) as team:
        for _ in range(3):
            team.add()
        await team.ready()
        watch = Watch(team)
        watching = asyncio.create_task(watch.run())
        said = list(crowd("row twenty-six", events, 40, team.clock.now()))
        part = len(said) // (2 * rounds)
        for step in range(rounds):
            await put(broker.bootstrap_servers, team.topic, said[2 * step * part : (2 * step + 1) * part])
            killed = await _elected(watch)
            await asyncio.sleep(chance.uniform(0, 1))
            killed.kill()
            killed.start()
            stopped = await _elected(watch, other_than=killed)
            os.kill(stopped.pid, signal.SIGSTOP)
            last = len(said) if step == rounds - 1 else (2 * step + 2) * part
            await put(broker.bootstrap_servers, team.topic, said[(2 * step + 1) * part : last])
            await _elected(watch, other_than=stopped)
            os.kill(stopped.pid, signal.SIGCONT)
        await team.until_all_read(len(said), within=120)
        await team.until_settled(60)
        await until(lambda: team.rows("SELECT count(*) FROM tally_queue") == [(0,)], 60, 0.2)
        counts = _counts(team)
        await until(lambda: any('rate="safety_miss"' in name for name in watch.shown), 60, 0.1)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        turns = counts["turn:user"] + counts["turn:assistant"]
        verdicts = sum(n for name, n in counts.items() if name.startswith("outcome:"))
        [(findings,)] = team.rows("SELECT count(*) FROM findings WHERE kind = 'outcome'")
        tell(
            26,
            "one worker publishes, and no turn is lost",
            f"{rounds} kills and {rounds} standstills of the elected one, {watch.looks} looks, {watch.most} elected at most; "
            f"{turns} of {len(said)} turns and {verdicts} of {findings} verdicts are in the figures",
        )
        assert watch.most == 1
        assert (turns, verdicts) == (len(said), findings)
        assert not watching.cancelled() or watch.looks > 50


async def _elected(watch: Watch, other_than: Worker | None = None) -> Worker:
    await until(lambda: watch.elected not in (None, other_than), ELECTED_WITHIN, 0.1)
    assert watch.elected is not None
    return watch.elected


def _counts(team: Crew) -> Counter[str]:
    whole: Counter[str] = Counter()
    for (body,) in team.rows("SELECT body FROM tally_hours"):
        whole.update(json.loads(body)["counts"])
    return whole
