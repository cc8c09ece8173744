"""A worker dies at every call of its store while a storm is told of and somebody takes it: nobody is lost."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from alerts.incident import State
from alerts.page import Kind
from alerts.relay import Grouping
from alerts.storm import StormPolicy
from monitor.errors import StoreError
from monitor.store.memory import MemoryStore
from monitor.store.work import Store
from tests.support.fake_clock import FakeClock, settle
from tests.support.form import Form, Tell
from tests.support.storms import LINKS
from tests.support.worker import Topic, Worker, incident_of, reply, user

pytestmark = pytest.mark.promise

SINGLES = 3
SECOND = timedelta(seconds=1)
GROUPING = Grouping(StormPolicy(singles=SINGLES), LINKS)


@dataclass
class Mortal:
    """A store that answers up to its ``last`` call, and then, before or after doing it, never again."""

    store: MemoryStore
    last: int | None
    after: bool
    calls: list[str] = field(default_factory=list)
    dead: bool = False

    def __getattr__(self, name: str) -> object:
        call = getattr(self.store, name)
        if not inspect.iscoroutinefunction(call):
            return call

        async def while_alive(*args: object, **facts: object) -> object:
            number = len(self.calls)
            self.calls.append(name)
            if self.dead or (number == self.last and not self.after):
                self.dead = True
                await asyncio.Event().wait()
            answer = await call(*args, **facts)
            if number == self.last:
                self.dead = True
            if self.dead:
                await asyncio.Event().wait()
            return answer

        return while_alive


async def test_a_worker_dies_at_every_point_of_a_storm(form: Form, tell: Tell) -> None:
    people = form.pick(8, 40)
    calls, told = await _story(None, False, people)
    assert told == {}, told
    groups = {"admit", "group", "members", "due_groups", "commit", "claim", "record"}
    assert groups <= set(calls)
    lost: Counter[str] = Counter()
    # one of each call in a row: a relay that looks and finds nothing does so a hundred times
    points = [n for n, name in enumerate(calls) if n == 0 or calls[n - 1] != name]
    points = points[:: form.pick(8, 1)]
    for number in points:
        for after in (False, True):
            _, wrong = await _story(number, after, people)
            lost.update({f"{what} {'after' if after else 'before'} {calls[number]}": 1 for what in wrong})
    names = Counter(calls[number] for number in points)
    tell(
        16,
        "a worker dies in a storm",
        f"{2 * len(points)} points ({', '.join(f'{name} {count}' for name, count in sorted(names.items()))}): "
        f"{sum(lost.values())} lost",
    )
    assert lost == {}


async def _story(last: int | None, after: bool, people: int) -> tuple[list[str], dict[str, object]]:
    """What the first worker asked of its store, and what is wrong at the end."""
    store, clock, topic = MemoryStore(), FakeClock(), Topic()
    mortal = Mortal(store, last, after)
    first = _worker(mortal, clock, topic)
    names = [f"c{number}" for number in range(people)]
    topic.add(
        *(value for name in names for value in (user(name, "crisis", 0), reply(name, "sleep tip", 0.1)))
    )
    living = await _live(first, first, clock, mortal)
    if living is None:
        living = _worker(store, clock, topic)
        await _live(living, first, clock, None)
    await living.stop()
    rung = [page for worker in {first, living} for page in worker.rung]
    singles = {page.incident for page in rung if not page.group}
    groups = {page.incident for page in rung if page.group}
    listed = {one.key for key in groups for one in await store.members(key, limit=1000)}
    due = {incident_of(name) for name in names}
    states = {key: (await store.incident(key)).state for key in listed}  # type: ignore[union-attr]
    acknowledged = {
        page.incident
        for worker in {first, living}
        for page in worker.first.got
        if page.kind is Kind.ACKNOWLEDGE
    }
    wrong: dict[str, object] = {
        "nobody was told of": due - singles - listed,
        "still rings": {key for key, state in states.items() if state is not State.ACKNOWLEDGED},
        "the pager was not told": groups - acknowledged,
        "too many pages": len(groups) - 1 if len(groups) > 1 else 0,
        "too many singles": max(0, len(singles) - SINGLES - 1),
    }
    return mortal.calls, {what: which for what, which in wrong.items() if which}


def _worker(store: object, clock: FakeClock, topic: Topic) -> Worker:
    assert isinstance(store, (Mortal, MemoryStore))
    asked: Store = store  # type: ignore[assignment]
    return Worker(asked, clock, topic=topic, grouping=GROUPING)


async def _live(worker: Worker, first: Worker, clock: FakeClock, mortal: Mortal | None) -> Worker | None:
    """Read, ring, and have somebody press the button. None if it died."""
    running = asyncio.create_task(_press_when_it_rings(worker, first))
    reading = asyncio.create_task(_read(worker))
    for _ in range(45):
        await clock.advance(SECOND)
        await settle()
        if mortal is not None and mortal.dead:
            break
    for task in (running, reading):
        task.cancel()
    await asyncio.gather(running, reading, return_exceptions=True)
    if mortal is not None and mortal.dead:
        await worker.stop()
        return None
    return worker


async def _read(worker: Worker) -> None:
    """What ``Worker.start`` does, without waiting for it to settle: it may never."""
    await worker.join()
    loops = (worker.relay.run(), worker.timers.run(), worker.lifeboat.run(), worker.groups.run())
    worker._tasks += [asyncio.create_task(loop) for loop in loops]
    await worker.pump()


async def _press_when_it_rings(worker: Worker, first: Worker) -> None:
    """Whoever was rung by either of them presses until it is done."""
    while True:
        await worker.clock.sleep(SECOND)
        for page in [*first.rung, *worker.rung]:
            if page.group:
                try:
                    await worker.groups.acknowledge(page.incident, "anna")
                except StoreError:
                    continue
