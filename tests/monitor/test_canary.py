"""The canary's whole way over a worker on a fake clock: timed, counted apart, waking nobody, told outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio
from pydantic import SecretStr

from alerts.canary import Canary, is_canary
from alerts.delivery import Delivery
from alerts.pagers.canary import CanaryChannel
from alerts.ports import Notification
from alerts.relay import Relay
from monitor.canary import EXPLANATION, TRIES, CanaryLoop, CanaryUnsent, HeartbeatUrl
from monitor.canary_book import CanaryBook
from monitor.canary_event import CanaryMark
from monitor.clock import SystemClock
from monitor.decode.native import NativeDecoder
from monitor.reader import Reader
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.fake_pager import NO, FakePager
from tests.support.pages import a_page
from tests.support.scripted_server import Cut, ScriptedServer, Status
from tests.support.worker import PSEUDONYMISER, Topic, Worker, reply, user

MINUTE = timedelta(minutes=1)


class Stage:
    """One worker, its topic of one partition, and the canary's loop; ``heard`` are heartbeats."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = AwayStore()
        self.pager = FakePager("canary's own", self.clock)
        self.people = FakePager("first", self.clock)
        self.topic = Topic()
        self.worker = Worker(
            self.store, self.clock, topic=self.topic, pagers=[self.people, CanaryChannel(self.pager)]
        )
        mark = CanaryMark(b"k" * 32, PSEUDONYMISER)
        self.worker.pipeline._reader = Reader(NativeDecoder(), PSEUDONYMISER, self.clock, mark.marked)
        self.heard: list[float] = []
        self.answers = True
        self.away = False
        self.without_leader: set[int] = set()
        self.known = [0]
        self.reads = True
        self.mark = mark
        self.sent: list[int] = []
        self.loop = self.begin()

    def begin(self) -> CanaryLoop:
        """A worker's loop from its start."""
        loop = CanaryLoop(
            book=CanaryBook(MINUTE, timedelta(seconds=30), self.clock.now()),
            mark=self.mark,
            sender=self,
            store=self.store,
            clock=self.clock,
            observer=self.worker.recorder,
            beat=self._beat,
        )
        self.worker.recorder.canary_arrived = loop.arrived
        return loop

    async def _beat(self) -> bool:
        self.heard.append(self.clock.now().timestamp())
        return self.answers

    def partitions(self) -> list[int]:
        return list(self.known)

    async def send(self, partition: int, key: bytes, value: bytes, headers: dict[str, str]) -> None:
        if self.away or partition in self.without_leader:
            raise CanaryUnsent("away")
        self.sent.append(partition)
        self.topic.add(value)

    async def minutes(self, count: float) -> None:
        for _ in range(int(count * 60)):
            await self.loop.turn(self.clock.now())
            if self.reads:
                await self.worker.pump()
            await self.worker.wait(1)

    def value(self, name: str, **labels: str) -> float | None:
        return self.worker.metrics.registry.get_sample_value(name, labels)


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    await made.worker.start()
    yield made
    await made.worker.stop()


async def test_it_arrives_each_minute_and_is_timed(stage):
    await stage.minutes(3.5)
    assert [page.test and page.canary for page in stage.pager.got] == [True] * 3
    assert stage.value("jiezhu_canary_seconds_count") == 3
    assert stage.value("jiezhu_canary_seconds_bucket", le="5.0") == 3
    assert len(stage.heard) == 3
    assert stage.value("jiezhu_canaries_total", result="accepted") == 3
    assert 0 <= stage.value("jiezhu_canary_last_success_age_seconds", partition="0") <= 60
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") < 0


async def test_it_wakes_nobody_and_stands_in_no_figure_of_people(stage):
    await stage.minutes(20)
    assert len(stage.pager.got) >= 19
    assert stage.people.rung == []
    told = [
        sample
        for family in stage.worker.metrics.registry.collect()
        for sample in family.samples
        if sample.value and sample.name.startswith(("jiezhu_turns", "jiezhu_crisis", "jiezhu_safety"))
        if sample.name.endswith("_total")
    ]
    assert told == []
    assert stage.value("jiezhu_pages_total", pager="canary", state="accepted", reason="http_202") is None
    assert stage.value("jiezhu_event_age_seconds_count") == 0
    assert await stage.store.incidents(open_only=False, limit=9) == []
    assert stage.store.findings() == ()


async def test_a_person_beside_it_is_paged_as_ever(stage):
    await stage.minutes(1.5)
    now = 90
    await stage.worker.read(user("c", "crisis", now), reply("c", "sleep tip", now + 1))
    await stage.minutes(0.2)
    assert len(stage.people.got) == 1
    assert not stage.people.got[0].test


async def test_nothing_is_left_of_it_after_an_hour(stage):
    await stage.minutes(65)
    rows = [row for row in stage.store.notifications() if row.page.canary]
    assert 59 <= len(rows) <= 62
    assert (
        await stage.store.due(stage.clock.now() + timedelta(days=1), 999) == []
    )  # time does nothing more to it
    early = Canary(int(stage.clock.now().timestamp()) // 60 * 60 - 64 * 60, 0)
    assert await stage.store.cases([early.conversation]) == {}


async def test_the_heartbeat_stops_while_nothing_is_read_and_comes_back(stage):
    await stage.minutes(1.5)
    stage.reads = False
    before = len(stage.heard)
    await stage.minutes(5)
    assert len(stage.heard) == before
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") > 0
    stage.reads = True
    await stage.minutes(1.5)
    assert len(stage.heard) > before


async def test_the_heartbeat_stops_while_its_pager_refuses(stage):
    stage.pager.then = NO  # its token was revoked
    await stage.minutes(3)
    assert stage.heard == []
    assert stage.people.rung == []
    assert await stage.store.oldest(stage.clock.now()) == timedelta(0)


async def test_it_cannot_be_sent_while_the_broker_is_away(stage):
    stage.away = True
    await stage.minutes(3)
    assert stage.heard == []
    assert stage.value("jiezhu_canaries_total", result="not_sent") >= 2
    stage.away = False
    await stage.minutes(1.5)
    assert stage.heard


async def test_one_that_another_worker_delivered_is_known_from_the_outbox(stage):
    stage.worker.recorder.canary_arrived = lambda *_: None
    await stage.minutes(2.5)
    assert len(stage.heard) == 2


async def test_pages_go_out_and_are_heard_of_while_the_database_is_away(stage):
    await stage.minutes(1.2)
    stage.store.away = EVERYTHING
    before = len(stage.heard)
    await stage.minutes(2)
    assert len(stage.heard) > before
    assert all(page.degraded for page in stage.pager.got[before:])
    assert stage.people.rung == []


async def test_a_heartbeat_that_is_not_heard_is_tried_a_few_times_and_no_more(stage):
    stage.answers = False
    await stage.minutes(1.6)
    assert len(stage.heard) == TRIES
    assert stage.value("jiezhu_canary_heartbeats_total", result="not_heard") == 1


async def test_a_page_of_a_person_whose_channels_are_gone_does_not_go_the_canarys_way(stage):
    relay = Relay(stage.store, [CanaryChannel(stage.pager), stage.people], stage.clock, stage.worker.recorder)
    note = Notification("n", a_page(), Delivery(("gone",)), stage.clock.now())
    assert relay._routed(note).route == ("first",)


async def test_the_service_outside_is_told_what_the_beats_mean():
    async with ScriptedServer() as server:
        server.script(Cut(), Status(404), then=Status(200))
        beat = HeartbeatUrl(SecretStr(f"{server.url}/check-of-ours"), SystemClock())
        assert [await beat(), await beat(), await beat()] == [False, False, True]
        await beat.close()
    assert server.requests[-1].body.decode() == EXPLANATION
    for words in ("do not silence it", "No person is behind the canary", "treat it as an outage"):
        assert words in EXPLANATION


async def test_a_partition_without_a_leader_keeps_no_other_back(stage):
    stage.known, stage.without_leader = [0, 1, 2], {1}
    await stage.minutes(8)
    assert {partition: stage.sent.count(partition) for partition in (0, 1, 2)}[1] == 0
    assert min(stage.sent.count(0), stage.sent.count(2)) >= 2 * 2  # two records a canary


async def test_a_fresh_worker_does_not_hide_that_one_is_missing(stage):
    await stage.minutes(2.5)
    stage.reads = False
    await stage.minutes(65)
    stage.loop = stage.begin()
    await stage.minutes(0.1)
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") > 0
    stage.reads = True
    await stage.minutes(1.5)
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") < 0


async def test_after_a_night_without_any_worker_the_way_is_tried_at_once(stage):
    await stage.minutes(1.5)
    await stage.worker.wait(1800 + 20)
    stage.loop = stage.begin()
    await stage.minutes(0.2)
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") < 0


async def test_a_fresh_worker_that_cannot_ask_says_nothing_of_what_is_due(stage):
    stage.store.away = EVERYTHING
    await stage.minutes(0.5)
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") is None
    stage.store.away = frozenset()
    await stage.minutes(0.1)
    assert stage.value("jiezhu_canary_overdue_seconds", partition="0") is not None


async def test_whatever_befalls_it_ends_no_worker(stage):
    def fail() -> list[int]:
        raise AssertionError

    stage.partitions = fail
    running = asyncio.create_task(stage.loop.run())
    await stage.clock.advance(timedelta(seconds=90))
    assert not running.done()
    assert stage.worker.recorder.signs_of_life(["canary"])["canary"] >= stage.clock.now() - timedelta(
        seconds=1
    )
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_one_that_has_rung_waits_for_nothing_in_the_lifeboat_either(stage):
    await stage.minutes(1.5)
    assert len(stage.pager.got) == 1
    for _, value in stage.mark.events(Canary(int(stage.clock.now().timestamp()) // 60 * 60, 0)):
        stage.topic.add(value)  # another worker sends the same
    await stage.worker.pump()
    waiting = [write.case.conversation.key for write in stage.worker.lifeboat._recent.waiting()]
    assert not [key for key in waiting if is_canary(key)]
