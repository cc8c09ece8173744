"""Row 11: a hundred thousand or a million live conversations."""

from __future__ import annotations

import asyncio
import base64
import gc
import random
import statistics
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, delete, insert

from alerts.policy import Policy, Step
from monitor.clock import SystemClock
from monitor.store import codec
from monitor.store.schema import cases
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from tests.support.builders import at
from tests.support.crew import crew
from tests.support.fake_clock import FakeClock
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.memory import GIB, MIB, peak
from tests.support.stores import KEYRING
from tests.support.stream import exchange, put
from tests.support.worker import PARTITION, Worker, hidden, reply, user

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

FEW = 10_000
TURNS = 8  # of each conversation, before anything is measured
BATCHES = 200  # in each of the two
PART = 40
BATCH = 8  # exchanges
WORST_RATIO = 2.0
MOST_RESIDENT = 1.5 * GIB
ENCODER = 0.75 * GIB  # what the encoder and its libraries take of a worker beside this
CRISES = 60  # begun before all the others came
POLICY = Policy(steps=(Step(("first",)),))
TRAFFIC = 500  # exchanges that the worker process reads
CHUNK = 5_000


async def test_many_are_live_at_once(
    broker: Broker,
    tmp_path: Path,
    new_database: Callable[[], str],
    form: Form,
    tell: Tell,
    request: pytest.FixtureRequest,
) -> None:
    many = form.pick(100_000, 1_000_000)
    few_url, many_url = new_database(), new_database()
    clock = FakeClock(SystemClock().now())

    def spent(url: str) -> float:
        """Seconds of processor time so far, of all threads and of a database server."""
        server = request.getfixturevalue("postgres").spent(url) if url.startswith("postgresql") else 0.0
        return time.process_time() + float(server)

    begun = clock.now()
    async with worker_over(few_url, clock) as few, worker_over(many_url, clock) as crowded:
        asked = [f"asked {number}" for number in range(CRISES)]
        for name in asked:
            crowded.topic.add(user(name, "crisis", _seconds(begun)))
        await crowded.pump()
        model = await _model(crowded, begun)
        for url, count in ((few_url, FEW), (many_url, many)):
            await asyncio.to_thread(_fill, url, count, model)

        gc.collect()
        gc.freeze()  # what the tests themselves hold would be walked through in every hundredth batch
        try:
            small, large = await _measure(
                (few, FEW, partial(spent, few_url)), (crowded, many, partial(spent, many_url)), begun=begun
            )
        finally:
            gc.unfreeze()

        # of those who were asked first: a third was dropped, a third answered well, and nobody answers the rest
        now = (clock.now() - begun).total_seconds()
        for number, name in enumerate(asked):
            if number % 3 < 2:
                text = ("sleep tip", "good")[number % 3]
                crowded.topic.add(reply(name, text, _seconds(begun) + now + 1))
        await crowded.pump()
        await clock.advance(POLICY.reply_deadline + timedelta(minutes=1))
        crowded.topic.add(user("later", "hello", _seconds(begun) + (clock.now() - begun).total_seconds()))
        await crowded.pump()
        while await crowded.timers.fire(clock.now()):
            pass
        paged = {
            note.page.incident: note.page.outcome
            for note in await crowded.store.claim(clock.now(), timedelta(1), 500)
        }
    resident = await _resident(broker, tmp_path, many_url, many)

    wanted = {}
    for number, name in enumerate(asked):
        if number % 3 != 1:
            wanted[f"jz-{hidden(name)[:20]}-1"] = ("unhandled", "", "no_reply")[number % 3]
    ratio = large / small
    tell(
        11,
        f"{many} conversations are live ({many_url.partition(':')[0]})",
        f"resident {resident / MIB:.0f} MiB and the encoder, batch p99 {ratio:.2f} times that of {FEW} "
        f"({large * 1000:.0f} ms of processor time), {len(wanted)} crises from before them all owed, {len(paged)} paged",
    )
    assert paged == wanted, "nothing that is needed was evicted"
    assert resident + ENCODER <= MOST_RESIDENT
    assert ratio <= WORST_RATIO


def _seconds(begun: object) -> float:
    """As ``tests.support.worker`` counts the times of events."""
    return (begun - at(0)).total_seconds()  # type: ignore[operator, no-any-return]


@asynccontextmanager
async def worker_over(url: str, clock: FakeClock) -> AsyncIterator[Worker]:
    store = SqlStore(url, KEYRING, timedelta(seconds=30))
    try:
        yield Worker(store, clock, policy=POLICY)
    finally:
        await store.close()


def name_of(number: int) -> str:
    return f"live {number}"


async def _model(worker: Worker, begun: object) -> str:
    """A conversation's row as the worker writes it, of ``TURNS`` turns."""
    start = _seconds(begun)
    for number in range(TURNS // 2):
        worker.topic.add(
            user(name_of(0), "hello", start + number),
            reply(name_of(0), "chat remembered", start + number + 0.5),
        )
    await worker.pump()
    [case] = (await worker.store.cases([hidden(name_of(0))])).values()
    return codec.CASES.encode(replace(case, version=1))


def _fill(url: str, count: int, model: str) -> None:
    """``count`` conversations like the model's, each under a key of its own."""
    engine = create_engine(parse(url), poolclass=NullPool)
    model_key = hidden(name_of(0))

    def rows(first: int) -> Iterator[dict[str, object]]:
        for number in range(first, min(first + CHUNK, count)):
            key = hidden(name_of(number))
            yield {
                "conversation": key,
                "version": 1,
                "topic": PARTITION[0],
                "number": PARTITION[1],
                "wake_at": None,
                "body": model.replace(model_key, key),
                "sealed": None,
            }

    with engine.begin() as connection:
        connection.execute(delete(cases).where(cases.c.conversation == model_key))
    for first in range(0, count, CHUNK):
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA synchronous=OFF")
            connection.execute(insert(cases), list(rows(first)))
    engine.dispose()


async def _measure(*each: tuple[Worker, int, Callable[[], float]], begun: object) -> tuple[float, ...]:
    """Return p99 of a batch's seconds in either. They take turns, so that both meet the same machine.

    ``each``: a worker, how many conversations live there, and what tells the seconds on the processor: how long
    others held a batch up says nothing of how many conversations live.
    """
    chance = random.Random(1)
    taken: dict[int, list[float]] = {count: [] for _, count, _ in each}
    for batch in range(BATCHES):
        for worker, count, spent in each:
            start = _seconds(begun) + TURNS + batch * 0.01
            for name in chance.sample(range(count), BATCH):
                worker.topic.add(
                    user(name_of(name), "hello", start, event_id=f"u{name} {batch}"),
                    reply(name_of(name), "chat remembered", start, event_id=f"r{name} {batch}"),
                )
            before = spent()
            await worker.pump()
            taken[count].append(spent() - before)
    return tuple(map(_tail, taken.values()))


def _tail(seconds: list[float]) -> float:
    """p99: the median of what each part says, as a collection of garbage falls into one or two of them."""
    parts = [seconds[first : first + PART] for first in range(0, len(seconds), PART)]
    return statistics.median(statistics.quantiles(part, n=100, method="inclusive")[-1] for part in parts)


async def _resident(broker: Broker, folder: Path, url: str, many: int) -> int:
    """Return the most bytes that a worker process held while it read turns of all these conversations."""
    chance = random.Random(11)
    pseudonym = base64.b64encode(b"p" * 32).decode()
    async with crew(broker, folder, None, url, KEYS__PSEUDONYM=pseudonym) as team:
        worker = team.add()
        await team.ready()
        now = team.clock.now()
        before = team.read()
        said = [
            one
            for name in chance.sample(range(many), TRAFFIC)
            for one in exchange(name_of(name), "hello", "chat remembered", now)
        ]
        sent = await put(broker.bootstrap_servers, team.topic, said)
        await team.until_all_read(before + sent, within=90)
        return peak(worker.pid)
