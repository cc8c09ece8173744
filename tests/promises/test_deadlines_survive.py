"""Row 6: deadlines through restarts at random moments while the machine's clock is set to and fro.

One life is a worker over a real database, ended wherever it happens to be, and another begun at once. Time is real;
what the machine's clock says is not. The pager's clock is another.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from alerts.policy import Policy, Step
from monitor.clock import SteadyClock, SystemClock
from monitor.common_time import CommonTime
from monitor.store.sql import SqlStore
from monitor.timers import POLL
from tests.support.builders import START
from tests.support.fake_pager import FakePager
from tests.support.form import Form, Tell
from tests.support.ledger import Ledger, Owed
from tests.support.stores import KEYRING
from tests.support.until import until
from tests.support.worker import Topic, Worker, incident_of, reply, user

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("patience")]

POLICY = Policy(steps=(Step(("pager",), timedelta(hours=1)),))
LATENESS = POLL + timedelta(seconds=1)
RATE = 60  # deadlines a second
FIRST = 4.0  # seconds until the first is due: by then all are read
# Steady time is brought in line by two thousandths; a database's clock may be a little apart.
ROUGHLY = timedelta(milliseconds=150)


class Machine:
    """Its clock is ``wrong`` by so many seconds. Who is rung writes into the ledger by a right one."""

    def __init__(self, url: str, folder: Path, ledger: Ledger) -> None:
        self.wrong = 0.0
        self.topic = Topic()
        self.lives = 0
        self.worker: Worker | None = None
        self._url = url
        self._folder = folder
        self._ledger = ledger
        self._names: dict[str, str] = {}
        self._right = SystemClock()
        self._keeping: asyncio.Task[None] | None = None

    async def begin(self, *, caught_up: bool = True) -> Worker:
        clock = SteadyClock(lambda: time.time() + self.wrong)
        store = SqlStore(self._url, KEYRING)
        common = CommonTime(clock, store, self._folder / "clock.json")
        await common.begin()
        pager = _Pager(self, clock)
        worker = self.worker = Worker(store, clock, topic=self.topic, policy=POLICY, pagers=[pager])
        worker.caught_up = caught_up
        await worker.start()
        await worker.pump(500)
        self._keeping = asyncio.create_task(common.run())
        self.lives += 1
        return worker

    async def end(self) -> None:
        """Wherever it is; what a thread has in hand is done or void."""
        assert self.worker is not None
        assert self._keeping is not None
        self._keeping.cancel()
        await asyncio.gather(self._keeping, return_exceptions=True)
        for task in self.worker._tasks:
            task.cancel()
        await asyncio.gather(*self.worker._tasks, return_exceptions=True)
        await self.worker.store.close()  # type: ignore[attr-defined]

    def know(self, conversation: str) -> None:
        self._names[incident_of(conversation)] = conversation

    def rung(self, incident: str, key: str) -> None:
        self._ledger.hear(self._names[incident], key, self._right.now())


class _Pager(FakePager):
    def __init__(self, machine: Machine, clock: SteadyClock) -> None:
        super().__init__("pager", clock)
        self._machine = machine

    async def send(self, page):
        self._machine.rung(page.incident, page.dedup_key)
        return await super().send(page)


async def test_restarts_and_a_moved_clock(url: str, tmp_path: Path, form: Form, tell: Tell) -> None:
    deadlines, restarts = form.pick((1_000, 12), (10_000, 120))
    chance = random.Random(6)
    ledger = Ledger()
    machine = Machine(url, tmp_path, ledger)
    begun = datetime.now(tz=START.tzinfo)
    lasts = deadlines / RATE
    dues = sorted(chance.uniform(FIRST, FIRST + lasts) for _ in range(deadlines))
    for number, seconds in enumerate(dues):
        name, due = f"c{number}", begun + timedelta(seconds=seconds)
        said = (due - POLICY.reply_deadline - START).total_seconds()
        machine.know(name)
        machine.topic.add(user(name, "crisis", said))
        if number % 10 == 0:  # this one is answered before anybody is due
            machine.topic.add(reply(name, "good", said + 1))
        else:
            ledger.owe(Owed(name, due - ROUGHLY, due + timedelta(seconds=30)))
    worker = await machine.begin(caught_up=False)
    worker.caught_up = True
    read = datetime.now(tz=START.tzinfo)
    for _ in range(restarts):
        await asyncio.sleep(chance.uniform(0, 2 * lasts / restarts))
        machine.wrong = chance.choice((3600.0, -3600.0, 90.0, 0.0))
        if chance.random() < 0.7:
            await machine.end()
            await machine.begin()
    with contextlib.suppress(AssertionError):  # the ledger says it better
        await until(lambda: not ledger.missing, FIRST + lasts + 30, 0.1)
    await asyncio.sleep(1)
    await machine.end()
    verdict = ledger.verdict()
    waits = lateness(ledger, read)
    p99 = waits[int(len(waits) * 0.99)]
    tell(
        6,
        f"deadlines survive, {'PostgreSQL' if 'postgres' in url else 'SQLite'}",
        f"{deadlines} read, {machine.lives} lives: {verdict}, {len(verdict.early)} early, "
        f"lateness p99 {p99.total_seconds():.2f} s, most {waits[-1].total_seconds():.2f} s",
    )
    assert verdict.kept
    assert p99 <= LATENESS


def lateness(ledger: Ledger, read: datetime) -> list[timedelta]:
    """From when each was due, or was ``read`` if that was later, to its first request; shortest first."""
    first: dict[str, datetime] = {}
    for one in ledger.heard:
        first[one.crisis] = min(first.get(one.crisis, one.at), one.at)
    return sorted(
        at - max(ledger.owed[name].earliest + ROUGHLY, read)
        for name, at in first.items()
        if name in ledger.owed
    )
