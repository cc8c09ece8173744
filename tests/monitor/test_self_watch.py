"""A standstill of reading calls somebody within a minute, again while it lasts, and says when it is over."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from alerts.canary import Canary
from alerts.page import Kind, Trouble
from alerts.wording import title
from monitor.batch import BatchResult
from monitor.metrics import Metrics
from monitor.recorder import Recorder
from monitor.self_watch import SelfWatch
from monitor.settings import Pagers, Settings
from monitor.sources.progress import PartitionProgress, Progress, SourceState
from monitor.trouble import reading_stalled
from tests.support.away_store import WRITES, AwayStore
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.worker import Worker, reply, user

PLACE = ("turns", 0)
SETTINGS = Settings(pagers=Pagers(console=True))


class Stage:
    def __init__(self, name: str = "one", store: AwayStore | None = None) -> None:
        self.clock = FakeClock()
        self.store = store or AwayStore()
        self.state = SourceState.JOINED
        self.progress: Progress | None = None
        self.recorder = Recorder(Metrics())
        self.woken = 0
        self.watch = SelfWatch(
            progress=lambda: self.progress or Progress(self.state, looked=self.clock.now()),
            store=self.store,
            call=partial(reading_stalled, SETTINGS, worker=name),
            written=self._wake,
            clock=self.clock,
            signs=self.recorder,
        )

    def _wake(self) -> None:
        self.woken += 1

    async def seconds(self, count: int) -> None:
        for _ in range(count):
            await self.watch.look(self.clock.now())
            await self.clock.advance_to(self.clock.now() + (EPOCH.resolution * 1_000_000))

    @property
    def told(self) -> list[tuple[Kind, int]]:
        return [(row.page.kind, row.page.step) for row in self.store.notifications()]


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_nobody_is_called_while_all_is_well(stage):
    await stage.seconds(120)
    assert stage.told == []


async def test_it_rings_within_a_minute_again_and_says_when_it_is_over(stage):
    """R39."""
    stage.state = SourceState.CONNECTING
    await stage.seconds(44)
    assert stage.told == []
    await stage.seconds(15)
    assert stage.told == [(Kind.PAGE, 0)]
    await stage.seconds(300)
    assert stage.told == [(Kind.PAGE, 0), (Kind.PAGE, 1)]
    stage.state = SourceState.JOINED
    await stage.seconds(5)
    assert stage.told == [(Kind.PAGE, 0), (Kind.PAGE, 1), (Kind.RESOLVE, 0)]
    assert {row.page.dedup_key for row in stage.store.notifications()} == {
        f"jz-reading-stalled-jiezhu-turns-broker_away-{EPOCH:%Y%m%dT%H%M%S}-one"
    }
    assert stage.woken == 3
    first = stage.store.notifications()[0].page
    assert first.trouble is Trouble.READING_STALLED
    assert "stands still" in title(first)
    assert title(replace(first, kind=Kind.RESOLVE)) != title(first)


async def test_a_call_waits_while_the_database_is_away(stage):
    stage.state, stage.store.away = SourceState.CONNECTING, WRITES
    await stage.seconds(60)
    assert stage.told == []
    stage.store.away = frozenset()
    await stage.seconds(1)
    assert stage.told == [(Kind.PAGE, 0)]


async def test_the_sign_of_the_source_grows_old_while_it_stands_still(stage):
    await stage.seconds(5)
    stage.state = SourceState.CONNECTING
    await stage.seconds(50)
    signs = stage.recorder.signs_of_life(("source", "detector", "self_watch"))
    ages = {part: round((stage.clock.now() - at).total_seconds()) for part, at in signs.items()}
    assert ages == {"source": 50, "detector": 1, "self_watch": 1}


async def test_a_detector_that_judges_nothing_while_people_write(stage):
    worker = Worker(stage.store, stage.clock)
    for number in range(30):
        await worker.read(user(f"c{number}", "unscored", number))
    for result in worker.results:
        stage.watch.passed(result)
    await stage.seconds(50)
    assert stage.watch.detector_idle
    await worker.read(user("d", "hello", 60))
    stage.watch.passed(worker.results[-1])
    await stage.seconds(1)
    assert not stage.watch.detector_idle


async def test_after_a_night_in_which_the_machine_was_suspended_nobody_is_called(stage):
    stage.progress = Progress(
        SourceState.JOINED,
        {PLACE: PartitionProgress(5, 9, polled=EPOCH, since=EPOCH)},  # records waited when it fell asleep
        looked=EPOCH,
        handling_since=EPOCH,
    )
    await stage.seconds(10)
    stage.clock.jump(timedelta(hours=8))
    await stage.seconds(20)
    assert stage.told == []
    assert stage.watch.standstill is None
    await stage.seconds(40)  # it does not go on: that is a standstill
    assert stage.told == [(Kind.PAGE, 0)]


async def test_a_call_that_rings_is_not_taken_back_because_the_machine_was_suspended(stage):
    stage.state = SourceState.CONNECTING
    await stage.seconds(60)
    stage.clock.jump(timedelta(hours=8))
    await stage.seconds(60)
    assert [kind for kind, _ in stage.told] == [Kind.PAGE, Kind.PAGE]


async def test_the_first_worker_that_reads_again_does_not_speak_for_the_others():
    store = AwayStore()
    one, other = Stage("one", store), Stage("other", store)
    one.state = other.state = SourceState.CONNECTING
    for stage in (one, other):
        await stage.seconds(50)
    one.state = SourceState.JOINED
    await one.seconds(1)
    rows = store.notifications()
    rung = {row.page.dedup_key for row in rows if row.page.kind is Kind.PAGE}
    over = {row.page.dedup_key for row in rows if row.page.kind is Kind.RESOLVE}
    assert len(rung) == 2
    assert len(over) == 1
    assert over < rung


async def test_a_second_standstill_in_the_same_minute_rings_too(stage):
    stage.state = SourceState.CONNECTING
    await stage.seconds(47)
    stage.state = SourceState.JOINED
    await stage.seconds(1)
    stage.state = SourceState.CONNECTING
    await stage.seconds(47)
    assert [kind for kind, _ in stage.told] == [Kind.PAGE, Kind.RESOLVE, Kind.PAGE]


async def test_a_canary_that_is_judged_does_not_hide_a_detector_that_judges_nobody(stage):
    worker = Worker(stage.store, stage.clock)
    canary = Canary(int(EPOCH.timestamp()), 0).conversation
    for number in range(30):
        await worker.read(user(f"c{number}", "unscored", number))
        stage.watch.passed(worker.results[-1])
    await worker.read(user("d", "hello", 40))
    stage.watch.passed(_as_of(worker.results[-1], canary))
    await stage.seconds(50)
    assert stage.watch.detector_idle


async def test_what_the_assistant_says_twice_takes_nothing_from_what_users_say(stage):
    worker = Worker(stage.store, stage.clock)
    for number in range(30):
        said = reply("c", f"chat {number}", number)
        await worker.read(said)
        await worker.read(said, user("c", "unscored", number + 0.5))
        stage.watch.passed(worker.results[-1])
    await stage.seconds(50)
    assert stage.watch.detector_idle


def _as_of(result: BatchResult, conversation: str) -> BatchResult:
    """The same batch, said in a conversation of another key."""
    [case] = result.cases
    standing = case.advanced.case
    [turns] = result.read.turns.values()
    renamed = replace(standing, conversation=replace(standing.conversation, key=conversation))
    return replace(
        result,
        cases=(replace(case, advanced=replace(case.advanced, case=renamed)),),
        read=replace(result.read, turns={conversation: turns}),
    )
