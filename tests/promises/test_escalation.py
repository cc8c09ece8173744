"""Nobody acknowledges: the next step at the due second. Somebody does: timer and people race, and one wins always."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import TypeVar

import pytest

from alerts.incident import State
from alerts.policy import Policy, Step
from monitor.people import Answer, People
from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from monitor.store.work import Store, Wake
from monitor.timers import Timers
from tests.support.fake_clock import FakeClock
from tests.support.form import Form, Tell
from tests.support.stores import KEYRING
from tests.support.worker import PARTITION, Worker, incident_of, reply, user

pytestmark = pytest.mark.promise

STEPS = (
    Step(("first",), timedelta(seconds=47)),
    Step(("second",), timedelta(minutes=3)),
    Step(("first", "second"), timedelta(minutes=10)),
)
POLICY = Policy(steps=STEPS)
T = TypeVar("T")
GRACE = 2.0
AT_ONCE = 50
HEAD_START = 20  # of people in a database: they ask it more often than a timer does


async def test_the_next_step_comes_at_the_due_second(form: Form, tell: Tell) -> None:
    rounds = form.pick(5, 200)
    clock = FakeClock()
    worker = Worker(MemoryStore(), clock, policy=POLICY)
    await worker.start()
    begun = clock.now()
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 0.5))
    await worker.wait(5)
    due, at = [], begun + timedelta(seconds=GRACE)
    for number in range(rounds * len(STEPS)):
        step = STEPS[number % len(STEPS)]
        due += [(at, target) for target in step.targets]
        at += step.after
    await worker.wait((at - clock.now()).total_seconds() - 1)
    rung = sorted((when, pager.name) for pager in (worker.first, worker.second) for when, _ in pager.rung)
    await worker.stop()
    late = [when - owed for (when, _), (owed, _) in zip(rung, due, strict=True)]
    tell(
        17,
        "nobody acknowledges",
        f"{len(due)} calls over {(at - begun).total_seconds() / 3600:.1f} h, each to whom it was due, "
        f"{min(late).total_seconds():.2f} to {max(late).total_seconds():.2f} s after its time",
    )
    assert [name for _, name in rung] == [name for _, name in due]
    assert timedelta(0) <= min(late)
    assert max(late) < timedelta(seconds=1)


class Interleaved:
    """A store that lets others go first, as chance says, before each call."""

    def __init__(self, store: Store, chance: random.Random, longest: float) -> None:
        self._store = store
        self._chance = chance
        self._longest = longest  # seconds; 0: only others that wait for nothing go first

    def __getattr__(self, name: str):
        call = getattr(self._store, name)

        async def after_a_while(*args, **facts):
            for _ in range(self._chance.randrange(6)):
                await asyncio.sleep(self._chance.uniform(0, self._longest) if self._longest else 0)
            return await call(*args, **facts)

        return after_a_while


async def test_acknowledgement_and_timer_race(form: Form, tell: Tell) -> None:
    winners: Counter[str] = Counter()
    for first in range(0, form.pick(1_000, 10_000), AT_ONCE):
        winners += await _race(MemoryStore(), range(first, first + AT_ONCE), 0)
    _judge(winners, "in memory", tell)


async def test_they_race_in_a_database(url: str, form: Form, tell: Tell) -> None:
    """The same where two transactions really stand against each other."""
    store = SqlStore(url, KEYRING)
    try:
        winners = await _race(store, range(form.pick(40, 1_000)), 0.004)
    finally:
        await store.close()
    _judge(winners, url.partition(":")[0].partition("+")[0], tell)


async def _race(store: Store, races: Sequence[int], longest: float) -> Counter[str]:
    """Two workers' timers and two people at the same moment, each time in another order."""
    clock = FakeClock()
    worker = Worker(store, clock, policy=POLICY)
    for first in range(0, len(races), AT_ONCE):
        names = [f"c{number}" for number in races[first : first + AT_ONCE]]
        await worker.read(
            *(value for name in names for value in (user(name, "crisis", 0), reply(name, "sleep tip", 0.5)))
        )
    clock.jump(timedelta(seconds=5))
    while await worker.timers.fire(clock.now()):
        pass
    clock.jump(STEPS[0].after + timedelta(seconds=1))
    winners: Counter[str] = Counter()
    for number in races:
        key = incident_of(f"c{number}")
        winners[await _one_race(worker, key, random.Random(number), longest)] += 1
    return winners


def _judge(winners: Counter[str], where: str, tell: Tell) -> None:
    races = winners.total()
    tell(
        17,
        f"acknowledgement races the timer ({where})",
        f"{races} ways: {winners['person']} times the person was first, {winners['timer']} times the timer, "
        f"{races - winners['person'] - winners['timer']} times not exactly one",
    )
    assert winners["person"] + winners["timer"] == races
    assert min(winners["person"], winners["timer"]) > races // 40, "there was no race"


async def _one_race(worker: Worker, key: str, chance: random.Random, longest: float) -> str:
    def store() -> Store:
        return Interleaved(worker.store, chance, longest)  # type: ignore[return-value]

    incident = await worker.store.incident(key)
    assert incident is not None
    wake = Wake(incident.conversation, PARTITION, worker.clock.now())
    timers = [
        Timers(store(), worker.paging, worker.reading, worker.clock, worker.recorder, lambda: None)
        for _ in range(2)
    ]
    people = [People(store(), worker.paging, worker.clock) for _ in range(2)]
    acts = [
        *(_later(_fire(timer, wake), chance.uniform(0, longest) * HEAD_START) for timer in timers),
        *(person.acknowledge(key, name) for person, name in zip(people, ("anna", "ben"), strict=True)),
    ]
    chance.shuffle(acts)
    done = await asyncio.gather(*acts)
    deeds = [one.answer for one in done if one is not None]
    after = await worker.store.incident(key)
    reasons = [row.reason for row in await worker.store.timeline(key)]
    told = Counter(reasons)
    steps = told["nobody_acknowledged"]
    kept = (
        after is not None
        and after.state is State.ACKNOWLEDGED
        and sorted(deeds) == [Answer.ALREADY, Answer.DONE]
        and told["acknowledged"] == 1
        and reasons[-1] == "acknowledged"
        and after.step == steps
        and steps in (0, 1)
    )
    if not kept:
        return "nobody"
    return "timer" if steps else "person"


async def _later(act: Awaitable[T], seconds: float) -> T:
    if seconds:
        await asyncio.sleep(seconds)
    return await act


async def _fire(timers: Timers, wake: Wake) -> None:
    await timers._wake([wake], wake.at)
