"""The small loops of a worker show that they live, however seldom they have something to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace

import pytest

from monitor.clock import SteadyClock
from monitor.common_time import CommonTime
from monitor.errors import StoreUnavailable
from monitor.expiry import EXPIRY, LOOK, Expiry
from monitor.group_keeper import GroupKeeper
from monitor.metrics import Metrics
from monitor.recorder import Recorder
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.worker import LOOPS, Worker
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.tallies import a_publisher
from tests.support.until import until

KEEP = timedelta(days=30)


class Stage:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.recorder = Recorder(Metrics())
        self.expired: list[datetime] = []
        self.away = False
        parts = SimpleNamespace(clock=self.clock, recorder=self.recorder, metrics=Metrics())
        self.expiry = Expiry(self, self.clock, KEEP, looked=partial(self.recorder.alive, "expiry"))
        self.worker = Worker(parts)

    async def expire(self, before: datetime) -> int:
        if self.away:
            raise StoreUnavailable
        self.expired.append(before)
        return 0

    async def expire_pieces(self, *_: object) -> int:
        if self.away:
            raise StoreUnavailable
        return 0

    async def sweep_canaries(self, before: object) -> None:
        del before

    async def due_groups(self, *_: object) -> list[object]:
        return []

    async def gone(self) -> None:
        raise StoreUnavailable

    def age(self, part: str) -> timedelta:
        return self.clock.now() - self.recorder.signs_of_life([part])[part]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    tasks = [asyncio.create_task(loop) for loop in (made.expiry.run(), made.worker._loop_lag())]
    yield made
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_words_are_let_go_of_once_an_hour_and_the_loop_shows_itself_between(stage):
    await stage.clock.advance(timedelta(minutes=30))
    assert stage.expired == [EPOCH - KEEP]
    assert stage.age("expiry") <= LOOK
    await stage.clock.advance(timedelta(minutes=40))
    assert stage.expired == [EPOCH - KEEP, EPOCH + EXPIRY - KEEP]


async def test_what_could_not_be_let_go_of_is_soon_tried_again(stage):
    await stage.clock.advance(LOOK)
    stage.away = True
    await stage.clock.advance(EXPIRY)
    assert len(stage.expired) == 1
    stage.away = False
    await stage.clock.advance(LOOK)
    assert len(stage.expired) == 2


async def test_the_loop_that_measures_the_loop_shows_itself(stage):
    await until(lambda: "loop_lag" in stage.recorder.signs_of_life(LOOPS), 5, 0.01)


async def test_the_keeper_of_groups_shows_itself(stage):
    keeper = GroupKeeper(stage, None, None, stage.clock, looked=partial(stage.recorder.alive, "groups"))
    running = asyncio.create_task(keeper.run())
    await stage.clock.advance(timedelta(minutes=5))
    assert stage.age("groups") < timedelta(seconds=30)
    keeper.stop()
    await stage.clock.advance(timedelta(seconds=1))
    await running


async def test_the_publisher_shows_itself_elected_or_not_and_while_the_database_is_away(stage):
    store = MemoryStore()
    tallies = MemoryTallies(store)
    alive = partial(stage.recorder.alive, "publisher")
    first, second = (a_publisher(tallies, stage.clock, name, looked=alive) for name in ("one", "two"))
    await first.look()
    running = asyncio.create_task(second.run())
    await stage.clock.advance(timedelta(seconds=9))
    assert stage.age("publisher") <= timedelta(seconds=3)
    tallies.lease = stage.gone
    await stage.clock.advance(timedelta(minutes=5))
    assert stage.age("publisher") <= timedelta(seconds=3)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_the_keeper_of_the_time_shows_itself(stage, tmp_path):
    async def nobody_knows() -> None:
        return None

    source = SimpleNamespace(time=nobody_knows)
    alive = partial(stage.recorder.alive, "common_time")
    running = asyncio.create_task(
        CommonTime(SteadyClock(), source, tmp_path / "clock.json", looked=alive).run()
    )
    await until(lambda: "common_time" in stage.recorder.signs_of_life(LOOPS), 5, 0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_a_publisher_that_hangs_ends_no_worker():
    """Figures are nobody's safety. It has a ticket of its own: ``JiezhuPublisherMissing``."""
    assert "publisher" not in LOOPS
