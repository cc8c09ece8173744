"""One of many workers publishes what all have tallied: through deaths, pauses and a database that is away."""

from __future__ import annotations

import asyncio
import random
from bisect import bisect_right
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from monitor.errors import StoreUnavailable
from monitor.publisher import LOOK, STALE, Publishing
from monitor.sources.record import Record
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.sql import SqlStore
from monitor.store.tallies import SqlTallies
from monitor.store.work import Work
from monitor.tally.cell import HOUR, Cell, Style, Tally, Where, hour_of, merged
from monitor.tally.election import LEASE, SHOWN
from monitor.tally.ports import Tallies
from monitor.tally.sketch import quantile
from tests.support.builders import at
from tests.support.fake_clock import EPOCH, FakeClock, settle
from tests.support.stores import KEYRING
from tests.support.tallies import a_publisher, cells, counted, values
from tests.support.worker import Topic, Worker, reply, user

HERE = Where("production", "7.2", "en", "crisis", "live")
LIVE = {"track": "production", "release": "7.2", "lang": "all", "level": "all", "basis": "live"}


def a_tally(at=EPOCH, where=HERE, **counts: int) -> Tally:
    tally = Tally(hour_of(at))
    tally.at(where).counts.update({name.replace("__", ":"): count for name, count in counts.items()})
    return tally


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def tallies(store) -> MemoryTallies:
    return MemoryTallies(store)


class Away:
    """A line to the tallies that may be cut, or held up at one call."""

    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies
        self.cut = False
        self.hold: Mapping[str, asyncio.Event] = {}

    def __getattr__(self, name: str) -> Any:
        async def carried(*given: Any) -> Any:
            if name in self.hold:
                await self.hold[name].wait()
            if self.cut:
                raise StoreUnavailable
            return await getattr(self._tallies, name)(*given)

        return carried


async def test_the_elected_one_shows_rates_with_their_intervals(store, tallies, clock):
    await store.commit(Work(tally=a_tally(outcome__handled__plan_intent=411)))
    await store.commit(Work(tally=a_tally(outcome__unhandled__plan_intent=1)))
    publisher = a_publisher(tallies, clock)
    await publisher.look()
    assert values(publisher, "jiezhu_publisher") == [1]
    assert values(publisher, "jiezhu_rate", rate="safety_miss", **LIVE) == [1 / 412]
    assert values(publisher, "jiezhu_rate_numerator", rate="safety_miss", **LIVE) == [1]
    assert values(publisher, "jiezhu_rate_denominator", rate="safety_miss", **LIVE) == [412]
    [low] = values(publisher, "jiezhu_rate_low", rate="safety_miss", **LIVE)
    [high] = values(publisher, "jiezhu_rate_high", rate="safety_miss", **LIVE)
    assert 0 < low < 1 / 412 < high < 0.02
    assert values(publisher, "jiezhu_rate_window_seconds") == [86400]
    assert values(publisher, "jiezhu_tally_waiting") == [0]


async def test_safety_misses_are_told_by_language_and_by_level_and_others_are_not(store, tallies, clock):
    await store.commit(Work(tally=a_tally(outcome__handled__plan_intent=3, outcome__no_reply__self_harm=1)))
    chinese = a_tally(where=HERE._replace(lang="zh"), outcome__handled__self_harm=1)
    await store.commit(Work(tally=chinese))
    publisher = a_publisher(tallies, clock)
    await publisher.look()
    told = {
        (sample.labels["lang"], sample.labels["level"]): sample.value
        for metric in publisher.collect()
        for sample in metric.samples
        if sample.name == "jiezhu_rate" and sample.labels["rate"] == "safety_miss"
    }
    expected = {("all", "all"): 1 / 5, ("en", "all"): 1 / 4, ("zh", "all"): 0}
    assert told == expected | {("all", "plan_intent"): 0, ("all", "self_harm"): 1 / 2}
    assert len(values(publisher, "jiezhu_rate", rate="handled")) == 1


async def test_who_is_not_elected_shows_no_figure(store, tallies, clock):
    await store.commit(Work(tally=a_tally(answer__all=1)))
    first, second = a_publisher(tallies, clock, "one"), a_publisher(tallies, clock, "two")
    await first.look()
    await second.look()
    [metric] = second.collect()
    assert (metric.name, metric.samples[0].value) == ("jiezhu_publisher", 0)


async def test_one_that_dies_is_followed_within_two_leases(tallies, clock):
    first, second = a_publisher(tallies, clock, "one"), a_publisher(tallies, clock, "two")
    await first.look()
    tasks = [asyncio.create_task(second.run())]
    await clock.advance(LEASE - LOOK)
    assert not second.elected
    took = await clock.advance_until(lambda: second.elected, 2 * LEASE)
    assert not first.elected
    assert took <= LEASE
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_that_ends_in_good_order_is_followed_at_once(tallies, clock):
    first, second = a_publisher(tallies, clock, "one"), a_publisher(tallies, clock, "two")
    await first.look()
    await second.look()
    await first.close()
    await second.look()
    assert (first.elected, second.elected) == (False, True)
    await first.close()
    assert second.elected, "who is not elected gives nothing up"
    assert (await tallies.lease()).holder == "two"


async def test_one_that_is_cut_off_stops_showing_before_another_is_elected(store, tallies, clock):
    await store.commit(Work(tally=a_tally(answer__all=1, answer__prohibited=1)))
    line = Away(tallies)
    first, second = a_publisher(line, clock, "one"), a_publisher(tallies, clock, "two")
    tasks = [asyncio.create_task(each.run()) for each in (first, second)]
    await clock.advance(LOOK)
    assert values(first, "jiezhu_rate", rate="prohibition_broken") == [1]
    line.cut = True
    await clock.advance_until(lambda: not first.elected, SHOWN + LOOK)
    assert not second.elected
    assert values(first, "jiezhu_rate") == []
    await clock.advance_until(lambda: second.elected, 2 * LEASE)
    line.cut = False
    await clock.advance(2 * LEASE)
    assert (first.elected, second.elected) == (False, True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_that_stood_still_amid_adding_up_writes_nothing(store, tallies, clock):
    """Another is elected meanwhile, and has not come to add up either."""
    line, other = Away(tallies), Away(tallies)
    first, second = a_publisher(line, clock, "one"), a_publisher(other, clock, "two")
    await first.look()
    await second.look()
    await store.commit(Work(tally=a_tally(answer__all=1)))
    line.hold, other.hold = {"fold": asyncio.Event()}, {"take": asyncio.Event()}
    one = asyncio.create_task(first.look())
    await settle()
    clock.jump(2 * LEASE)
    two = asyncio.create_task(second.look())
    await settle()
    assert (first.elected, second.elected) == (False, True)
    line.hold["fold"].set()
    await one
    assert await tallies.waiting() == 1, "who is no longer elected adds nothing up"
    other.hold["take"].set()
    await two
    assert (await counted(tallies))["answer:all"] == 1


async def test_a_look_after_an_absence_of_the_database_adds_up_what_waited(store, tallies, clock):
    line = Away(tallies)
    publisher = a_publisher(line, clock)
    task = asyncio.create_task(publisher.run())
    line.cut = True
    await clock.advance(2 * LEASE)
    await store.commit(Work(tally=a_tally(answer__all=5)))
    line.cut = False
    await clock.advance(2 * LOOK)
    assert (await counted(tallies))["answer:all"] == 5
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_figures_are_published_every_period_and_forget_what_is_older_than_the_window(
    store, tallies, clock
):
    publisher = a_publisher(tallies, clock, publishing=Publishing(window=timedelta(hours=2)))
    await store.commit(Work(tally=a_tally(answer__all=1)))
    await publisher.look()
    await store.commit(Work(tally=a_tally(answer__all=3)))
    clock.jump(LOOK)
    await publisher.look()
    assert values(publisher, "jiezhu_rate_denominator", rate="prohibition_broken") == [1]
    assert values(publisher, "jiezhu_published_age_seconds") == [LOOK.total_seconds()]
    clock.jump(timedelta(seconds=57))
    await publisher.look()
    assert values(publisher, "jiezhu_rate_denominator", rate="prohibition_broken") == [4]
    clock.jump(3 * HOUR)
    await publisher.look()
    assert values(publisher, "jiezhu_rate_denominator") == []


async def test_what_cannot_be_read_is_counted_and_stops_nothing(store, clock):
    tallies = MemoryTallies(store)
    publisher = a_publisher(tallies, clock)
    await store.commit(Work(tally=a_tally(answer__all=1)))
    store.tallies |= {77: "{", 78: '{"v": 9}', 79: '{"v": 1, "hour": 0, "cells": 3, "styles": []}'}
    await publisher.look()
    assert publisher._observer.failed == 3
    assert (await counted(tallies))["answer:all"] == 1
    assert await tallies.waiting() == 0


async def test_styles_are_folded_by_whoever_knows_them(store, tallies, clock):
    def fold(before: bytes | None, styles) -> bytes:
        return (before or b"") + b"".join(one.style.encode() for one in styles)

    tally = a_tally(answer__all=1)
    for style in ("a", "b"):
        tally.styles.append((HERE, Style("none", "none", 0.0, "en", style, "")))
    for _ in range(2):
        await store.commit(Work(tally=tally))
    publisher = a_publisher(tallies, clock, publishing=Publishing(fold_style=fold))
    await publisher.look()
    [(place, _)] = await tallies.since(EPOCH - HOUR)
    assert (await tallies.hours([place]))[place].style == b"abab"


async def test_styles_that_break_take_no_counts_with_them_and_hold_nothing_up(store, tallies, clock):
    def fold(before: bytes | None, styles) -> bytes:
        if any(one.style == "broken" for one in styles):
            raise ValueError("no style")
        return (before or b"") + b"".join(one.style.encode() for one in styles)

    publisher = a_publisher(tallies, clock, publishing=Publishing(fold_style=fold))
    for style in ("a", "broken", "b"):
        tally = a_tally(answer__all=1)
        tally.styles.append((HERE, Style("none", "none", 0.0, "en", style, "")))
        await store.commit(Work(tally=tally))
        clock.jump(timedelta(minutes=1))
        await publisher.look()
    [(place, cell)] = await tallies.since(EPOCH - HOUR)
    assert cell.counts["answer:all"] == 3
    assert (await tallies.hours([place]))[place].style == b"ab"
    assert (await tallies.waiting(), publisher._observer.failed) == (0, 1)


async def test_without_anybody_who_knows_them_styles_are_dropped(store, tallies, clock):
    tally = Tally(hour_of(EPOCH), {}, [(HERE, Style("none", "none", 0.0, "en", "a", ""))])
    await store.commit(Work(tally=tally))
    await a_publisher(tallies, clock).look()
    assert (await tallies.waiting(), list(await tallies.since(EPOCH - HOUR))) == (0, [])


async def test_tallies_are_added_up_at_their_pace_and_before_each_publication(store, tallies, clock):
    publishing = Publishing(pace=timedelta(seconds=12))
    publisher = a_publisher(tallies, clock, publishing=publishing)
    seen = []
    for _ in range(24):
        await store.commit(Work(tally=a_tally(answer__all=1)))
        await publisher.look()
        seen.append(await tallies.waiting())
        clock.jump(timedelta(seconds=3))
    assert seen[:5] == [0, 1, 2, 3, 0]
    assert seen[20] == 0, "a minute has passed"
    assert max(seen) == 3


class More:
    """What else is published; it may take its time, or fail."""

    def __init__(self) -> None:
        self.hold: asyncio.Event | None = None
        self.broken = False
        self.asked = 0

    async def look(self, now, rows) -> list[Metric]:
        del now, rows
        self.asked += 1
        if self.hold is not None:
            await self.hold.wait()
        if self.broken:
            raise ValueError("no comparison")
        return [GaugeMetricFamily("jiezhu_style_drift", "so far", value=0.5)]


async def test_more_figures_come_with_ours(tallies, clock):
    publisher = a_publisher(tallies, clock, publishing=Publishing(more=More()))
    await publisher.look()
    await settle()
    assert values(publisher, "jiezhu_style_drift") == [0.5]
    await publisher.close()
    assert values(publisher, "jiezhu_style_drift") == []


async def test_nothing_waits_for_more_figures_that_do_not_come(store, tallies, clock):
    more = More()
    more.hold = asyncio.Event()
    publisher = a_publisher(tallies, clock, publishing=Publishing(more=more))
    for _ in range(4):
        await store.commit(Work(tally=a_tally(answer__all=1)))
        await publisher.look()
        await settle()
        clock.jump(timedelta(seconds=60))
    assert (await counted(tallies))["answer:all"] == 4
    assert more.asked == 1, "one at a time"
    assert values(publisher, "jiezhu_style_drift") == []
    more.hold.set()
    await settle()
    await publisher.look()
    assert values(publisher, "jiezhu_style_drift") == [0.5]


async def test_more_figures_that_no_longer_come_are_not_shown(tallies, clock):
    more = More()
    publisher = a_publisher(tallies, clock, publishing=Publishing(more=more))
    await publisher.look()
    await settle()
    more.broken = True
    for _ in range(STALE):
        assert values(publisher, "jiezhu_style_drift") == [0.5]
        clock.jump(timedelta(seconds=61))
        await publisher.look()
        await settle()
    assert (values(publisher, "jiezhu_publisher"), values(publisher, "jiezhu_style_drift")) == ([1], [])


async def test_more_figures_that_come_after_another_was_elected_are_its_to_show(tallies, clock):
    more = More()
    more.hold = asyncio.Event()
    first = a_publisher(tallies, clock, "one", publishing=Publishing(more=more))
    second = a_publisher(tallies, clock, "two")
    await first.look()
    await second.look()
    clock.jump(2 * LEASE)
    await second.look()
    await first.look()
    more.hold.set()
    await settle()
    assert (first.elected, first._more) == (False, ())


# Many workers come to what one would


PARTITIONS = 4
TEXTS = ("hello", "troubled", "crisis", "imminent", "passive_ideation", "unscored")
ANSWERS = ("good", "half", "present", "cold", "sleep tip", "chat", "refusal", "harm", None)


def traffic(seed: int) -> list[tuple[Topic, list[datetime]]]:
    """A night over four partitions: replies are late or missing. With the times of all records."""
    chance = random.Random(seed)
    topics = [Topic(("turns", number)) for number in range(PARTITIONS)]
    lines: list[tuple[float, int, bytes]] = []
    for number in range(36):
        when, place = chance.uniform(0, 600), number % PARTITIONS
        facts = {"release": chance.choice(["7.1", "7.2"]), "track": chance.choice(["production", "canary"])}
        if chance.random() < 0.2:
            facts["probe"] = {"script": "s", "expect": {"emotion": chance.choice([True, False])}}
        for _ in range(chance.randint(1, 9)):
            when += chance.uniform(3, 40)
            lines.append((when, place, user(f"c{number}", chance.choice(TEXTS), when, **facts)))
            answer = chance.choice(ANSWERS)
            if answer is None:
                continue
            when += chance.uniform(0.5, 70)
            labels = {"safety_triggered": chance.choice([True, False, None]), "emotion": "sad"}
            lines.append((when, place, reply(f"c{number}", answer, when, assistant=labels, **facts)))
        if chance.random() < 0.3:
            note = {"helpful": chance.choice([True, 2, 5]), "returned": chance.choice([True, False])}
            lines.append((when + 1, place, user(f"c{number}", "hello", when + 1, feedback=note, **facts)))
    times: list[list[datetime]] = [[] for _ in topics]
    for when, place, line in sorted(lines):
        topics[place].add(line)
        times[place].append(at(when))
    return list(zip(topics, times, strict=True))


class Killed(BaseException):
    pass


class Deadly:
    """A store in which a worker may die just before or just after its batch is written."""

    def __init__(self, store: Any, chance: random.Random | None) -> None:
        self._store = store
        self._chance = chance
        self.kills = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, work: Work) -> None:
        before, after = (self._chance.random() < 0.08 for _ in range(2)) if self._chance else (False, False)
        self.kills += before or after
        if before:
            raise Killed
        await self._store.commit(work)
        if after:
            raise Killed


async def played(
    store: Any, tallies: Tallies, seed: int, workers: int, chance: random.Random | None
) -> Deadly:
    """Read all of it, each partition by one of the workers; who dies is followed by another that reads on."""
    clock, deadly = FakeClock(EPOCH + timedelta(seconds=1)), Deadly(store, chance)
    publishers = [a_publisher(tallies, clock, f"p{number}") for number in range(workers)]
    topics = traffic(seed)
    crews = [Worker(deadly, clock, topic=Topic(topic.partition)) for topic, _ in topics]
    for step in range(280):
        for place, (topic, times) in enumerate(topics):
            said = topic.records[: bisect_right(times, clock.now())]
            crews[place] = await _live(crews[place], said, clock)
        if chance is None or step % 30 == 0:
            for publisher in publishers:
                await publisher.look()
        clock.jump(timedelta(seconds=5))  # what is read much later than it was said would be judged as such
    for publisher in publishers * 2:
        await publisher.look()
    return deadly


async def _live(worker: Worker, said: list[Record], clock: FakeClock) -> Worker:
    """What has been said by now is read, and what is due is decided; a dead worker is followed by a new one."""
    while True:
        worker.topic.records = said
        try:
            await worker.pump(size=5)
            await worker.timers.fire(clock.now())
        except Killed:
            worker = Worker(worker.store, clock, topic=Topic(worker.topic.partition))
        else:
            return worker


@pytest.fixture
async def sqlite(sqlite_url):
    made = SqlStore(sqlite_url, KEYRING)
    yield made
    await made.close()


async def test_many_workers_that_die_come_to_the_figures_of_one(sqlite):
    seed = 1
    alone = MemoryStore()
    one = MemoryTallies(alone)
    await played(alone, one, seed, 1, None)
    many = SqlTallies(sqlite.database)
    deadly = await played(sqlite, many, seed, 3, random.Random(seed))
    assert deadly.kills > 10
    right, found = _comparable(await cells(one)), _comparable(await cells(many))
    assert sum(cell.counts.total() for cell in right.values()) > 800
    assert {kind.partition(":")[0] for cell in right.values() for kind in cell.counts} >= {
        *("outcome", "boundary", "answer", "emotion", "turn", "crisis_turn", "reached", "feedback"),
        *("own_safety", "first"),
    }
    assert found == right
    for share in (0.5, 0.95, 0.99):
        whole = quantile(merged(found.values()).latency, share)
        assert whole == pytest.approx(quantile(merged(right.values()).latency, share), rel=0.01)


def _comparable(found: Mapping[Where, Cell]) -> dict[Where, Cell]:
    """Without repeats: each worker has a sliding sample of its own replies."""
    return {
        where: Cell(
            type(cell.counts)({key: n for key, n in cell.counts.items() if not key.startswith("reply:")}),
            cell.marks,
            cell.latency,
        )
        for where, cell in found.items()
    }
