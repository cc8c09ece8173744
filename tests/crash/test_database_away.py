"""PostgreSQL goes away under a running worker, and comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.demo.player import conversation_id
from monitor.demo.script import Scene, assistant, user
from tests.support.crew import crew, due, get, records, until_health
from tests.support.kafka import Broker
from tests.support.postgres import Cluster
from tests.support.talk import DROPPED
from tests.support.until import until

pytestmark = [pytest.mark.model, pytest.mark.postgres, pytest.mark.xdist_group("workers")]

GRACE = 1.0
WITHIN = timedelta(seconds=GRACE + 8)  # from the reply to the page


def dropped(name: str, kind: int) -> Scene:
    lang, said, answer = DROPPED[kind]
    return Scene(name, (user(0, said), assistant(0.5, answer)), lang, pages=1)


async def test_pages_go_out_without_the_database_and_are_recorded_when_it_is_back(
    broker: Broker, tmp_path: Path, warm_cache: Path, postgres: Cluster, postgres_url: str
) -> None:
    begun, whole, after = dropped("begun before", 3), dropped("while away", 2), dropped("afterwards", 8)
    asked = replace(begun, says=begun.says[:1])
    async with crew(broker, tmp_path, warm_cache, postgres_url, WATCHING__GRACE_SECONDS=str(GRACE)) as team:
        worker = team.add()
        await team.ready()
        await team.play((asked,))
        await team.until_all_read(records([asked]))
        await asyncio.to_thread(postgres.stop)
        try:
            await until_health(worker, lambda answer: "database_away" in answer["reasons"], 20)
            assert (await get(f"{worker.url}/livez")).status_code == 200
            await team.play((begun, whole))
            await until(lambda: due([begun, whole]) <= set(team.rung()), 20)
        finally:
            await asyncio.to_thread(postgres.start)
        meanwhile = team.pages()
        for ring in meanwhile:
            assert ring.content["degraded"]
            assert ring.at - team.player.decided_at[team.conversation(ring)] < WITHIN
        await until_health(worker, lambda answer: answer["status"] == "ok", 60)
        read = records([asked]) + records([begun, whole])
        await team.until_all_read(read)
        await team.play((after,))
        await until(lambda: conversation_id(after) in team.rung(), 30)
        await team.until_all_read(read + records([after]))
        await team.until_settled()

        assert {name: len(keys) for name, keys in team.rung().items()} == dict.fromkeys(
            due([begun, whole, after]), 1
        )
        assert team.repeats().total() == 0
        assert not team.pages()[-1].content["degraded"]
        assert team.rows("SELECT count(*) FROM incidents WHERE NOT over") == [(3,)]
        accepted = team.rows("SELECT id FROM outbox WHERE delivery LIKE '%accepted%'")
        assert len(accepted) == 3 == len(team.rows("SELECT id FROM outbox"))
