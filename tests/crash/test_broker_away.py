"""The broker stands still for a while under a running worker."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from monitor.demo.broker import EmbeddedBroker
from monitor.demo.script import Scene, user
from tests.support.crew import crew, due, get, records, until_health
from tests.support.kafka import Broker
from tests.support.talk import DROPPED, crowd
from tests.support.until import until

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("workers")]

AWAY = 6.0  # seconds: two sessions
SENSIBLE = {"source_connecting", "broker_silent"}


async def test_reading_goes_on_and_no_page_is_lost(tmp_path: Path, warm_cache: Path, sqlite_url: str) -> None:
    unanswered = Scene("nobody replies", (user(0, DROPPED[7][1]),), "zh", pages=1)
    later = crowd(dropped=3, quiet=6, seconds=2)
    with EmbeddedBroker() as embedded:
        broker = Broker(embedded.bootstrap_servers, embedded.pid)
        async with crew(
            broker,
            tmp_path,
            warm_cache,
            sqlite_url,
            WATCHING__GRACE_SECONDS="1",
            WATCHING__IMMINENT_REPLY_DEADLINE_SECONDS="4",
        ) as team:
            worker = team.add()
            await team.ready()
            await team.play((unanswered,))
            await team.until_all_read(records([unanswered]))
            os.kill(embedded.pid, signal.SIGSTOP)
            try:
                playing = asyncio.create_task(team.play(later))
                end = asyncio.get_running_loop().time() + AWAY
                while asyncio.get_running_loop().time() < end:
                    assert (await get(f"{worker.url}/livez")).status_code == 200
                    assert set((await get(f"{worker.url}/readyz")).json()["reasons"]) <= SENSIBLE
                    await asyncio.sleep(0.3)
            finally:
                os.kill(embedded.pid, signal.SIGCONT)
            await playing
            await until_health(worker, lambda answer: answer["status"] == "ok", 30)
            scenes = (unanswered, *later)
            await until(lambda: due(scenes) <= set(team.rung()), 40)
            await team.until_all_read(records([unanswered]) + records(later))
            await team.until_settled()
            assert {name: len(keys) for name, keys in team.rung().items()} == dict.fromkeys(due(scenes), 1)
            assert team.repeats().total() == 0
