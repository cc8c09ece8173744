"""A worker dies in the middle: every page that is due comes, once, and no other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.demo.player import conversation_id
from monitor.demo.script import Scene, assistant, user
from monitor.reading import ORPHAN_GRACE
from tests.support.crew import Crew, Ring, crew, due, records
from tests.support.kafka import Broker
from tests.support.talk import DROPPED, crowd
from tests.support.until import until

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("workers")]

SEEN = 5  # pages, when the blow falls
LEASE = 15.0  # a request without an answer is made again after this
PATIENCE = LEASE + 30.0
STOP_WITHIN = 25.0


class Blow:
    """SIGKILL for whoever sends the fifth page, before the pager's answer is heard."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.struck: Ring | None = None
        self.in_flight = 0
        crew.heard = self._heard

    def _heard(self, ring: Ring) -> None:
        if self.struck is None and len(self._crew.rung()) == SEEN:
            self.struck = ring
            ring.worker.kill()
            [(self.in_flight,)] = self._crew.rows("SELECT count(*) FROM outbox WHERE due_at IS NOT NULL")


async def test_one_is_killed(broker: Broker, tmp_path: Path, warm_cache: Path, sqlite_url: str) -> None:
    scenes = crowd(dropped=20, quiet=60, seconds=12)
    async with crew(broker, tmp_path, warm_cache, sqlite_url) as team:
        team.add()
        team.add()
        await team.ready()
        blow = Blow(team)
        await team.play(scenes)
        await check(team, (scenes,), blow)


@pytest.mark.postgres
async def test_one_is_killed_and_comes_back_and_the_other_is_asked_to_stop(
    broker: Broker, tmp_path: Path, warm_cache: Path, postgres_url: str
) -> None:
    first = crowd(dropped=10, quiet=30, seconds=8, name="first")
    second = crowd(dropped=10, quiet=30, seconds=8, name="second")
    async with crew(broker, tmp_path, warm_cache, postgres_url) as team:
        both = {team.add(), team.add()}
        await team.ready()
        blow = Blow(team)
        await team.play(first)
        assert blow.struck is not None
        blow.struck.worker.start()
        await blow.struck.worker.wait_ready()
        [other] = both - {blow.struck.worker}
        playing = asyncio.create_task(team.play(second))
        await until(lambda: bool(due(second) & set(team.rung())), 40)
        assert team.read() < records(first) + records(second)  # there is traffic
        async with asyncio.timeout(STOP_WITHIN):
            assert await asyncio.to_thread(other.stop) == 0
        await playing
        await check(team, (first, second), blow)


async def check(team: Crew, plays: Sequence[tuple[Scene, ...]], blow: Blow) -> None:
    """Wait for what must come, then hold all that came against it."""
    wanted = due(scene for scenes in plays for scene in scenes)
    await until(lambda: wanted <= set(team.rung()), PATIENCE)
    assert blow.struck is not None
    killed = blow.struck.key
    await until(lambda: team.repeats()[killed] == 1, PATIENCE)  # its answer was never written
    await team.until_all_read(sum(map(records, plays)))
    await team.until_settled()

    assert set(team.rung()) == wanted
    assert {name: len(keys) for name, keys in team.rung().items()} == dict.fromkeys(wanted, 1)
    assert team.repeats().total() <= blow.in_flight
    assert {ring.content["kind"] for ring in team.rings} == {"page"}
    [(incidents, conversations)] = team.rows("SELECT count(*), count(DISTINCT conversation) FROM incidents")
    assert incidents == conversations >= len(wanted)
    assert team.rows("SELECT count(*) FROM dead_letters") == [(len(plays),)]


async def test_what_was_due_in_the_dead_worker_comes_from_another(
    broker: Broker, tmp_path: Path, warm_cache: Path, sqlite_url: str
) -> None:
    grace = timedelta(seconds=3)
    lang, said, answer = DROPPED[3]
    scene = Scene("due in the dead", (user(0, said), assistant(0.2, answer)), lang, pages=1)
    other_topic = await broker.topic(1)
    async with crew(
        broker, tmp_path, warm_cache, sqlite_url, WATCHING__GRACE_SECONDS=str(grace.total_seconds())
    ) as team:
        reader = team.add()
        team.add(
            KAFKA__TOPIC=other_topic, KAFKA__GROUP_ID=other_topic
        )  # never gets the dead one's partitions
        await asyncio.gather(*(worker.wait_ready() for worker in team.workers))
        playing = asyncio.create_task(team.play((scene,)))
        await until(lambda: team.read() >= len(scene.says), 20, 0.01)  # the reply has been read
        reader.kill()
        assert team.rings == []
        await playing
        await until(lambda: bool(team.pages()), 40)
        await team.until_settled()
    late = team.pages()[0].at - team.player.decided_at[conversation_id(scene)]
    assert timedelta(0) < late <= grace + ORPHAN_GRACE + timedelta(seconds=5)
    assert team.pages()[0].worker is not reader
    assert set(team.rung()) == due([scene])
    assert len(team.pages()) == 1
