"""Row 6: deadlines through restarts at random moments while the machine's clock is set to and fro.

One life is a worker over a real database. It ends in order, or wherever it happens to be, and another begins. The
database's server, where there is one, has the right time; nothing else has.
"""

from __future__ import annotations

import asyncio
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from alerts.policy import Policy, Step
from monitor.common_time import CommonTime
from monitor.store.shared_time import Agreed, Told
from monitor.store.sql import SqlStore
from monitor.timers import POLL
from tests.support.fake_clock import FakeClock
from tests.support.fake_pager import FakePager
from tests.support.form import Form, Tell
from tests.support.ledger import Ledger, Owed
from tests.support.simulation import BusyStore, SimulatedClock, pass_time
from tests.support.stores import KEYRING
from tests.support.worker import Topic, Worker, incident_of, reply, user

pytestmark = [pytest.mark.promise]

POLICY = Policy(steps=(Step(("pager",), timedelta(hours=1)),))
LATENESS = POLL + timedelta(seconds=1)
RATE = 60  # deadlines a second
CRASHES = 4  # one restart of so many
# Steady time is drawn to the right one by two thousandths: a deadline of a minute may come so much early.
ROUGHLY = timedelta(milliseconds=150)


class Machine:
    """Its clock is ``wrong`` by so many seconds."""

    def __init__(self, url: str, folder: Path, ledger: Ledger, fake: FakeClock) -> None:
        self.wrong = 0.0
        self.topic = Topic()
        self.unsaid: list[tuple[float, bytes]] = []  # latest first
        self.lives = 0
        self._agreed: Agreed | None = None
        self._url = url
        self._folder = folder
        self._ledger = ledger
        self._fake = fake
        self._names: dict[str, str] = {}

    async def begin(self) -> None:
        self._hear()
        self.clock = SimulatedClock(self._fake, lambda: self.wrong)
        self.store = BusyStore(SqlStore(self._url, KEYRING))
        common = CommonTime(self.clock, self, self._folder / "clock.json")
        await common.begin()
        pager = _Pager(self, self.clock)
        self.worker = Worker(
            self.store,
            self.clock,
            topic=self.topic,
            policy=POLICY,
            pagers=[pager],  # type: ignore[arg-type]
        )
        await self.worker.start()
        self.worker._tasks.append(asyncio.create_task(common.run()))
        await self.worker.pump(500)
        self.lives += 1

    def _hear(self) -> None:
        """What was said by now: a time that is still to come is a producer's error, and is put right."""
        now = (self._fake.now() - FakeClock().now()).total_seconds()
        while self.unsaid and self.unsaid[-1][0] <= now:
            self.topic.add(self.unsaid.pop()[1])

    async def time(self) -> Told | None:
        """What the database's server says."""
        return None if self._url.startswith("sqlite") else Told(self._fake.now(), self._agreed)

    async def agree(self, before: Agreed | None, after: Agreed) -> bool:
        if before != self._agreed:
            return False
        self._agreed = after
        return True

    async def end(self) -> None:
        """As SIGTERM ends it."""
        self.worker.timers.stop()
        self.worker.relay.stop()
        await pass_time(self._fake, self.store, self._fake.now())
        await self.crash()

    async def crash(self) -> None:
        """Wherever it is: what a thread has in hand is done or void."""
        for task in self.worker._tasks:
            task.cancel()
        await asyncio.gather(*self.worker._tasks, return_exceptions=True)
        await self.store.close()

    async def live(self, seconds: float) -> None:
        await pass_time(self._fake, self.store, self._fake.now() + timedelta(seconds=seconds))

    async def live_and_crash(self, seconds: float, turns: int) -> None:
        """The loop turns so many times more when the next work begins, and that is the end."""
        await self.live(seconds)
        pending = [at for at, _, future in self._fake._sleepers if not future.done()]
        self._fake.jump(max(min(pending) - self._fake.now(), timedelta(0)))
        for _, _, future in self._fake._sleepers:
            if not future.done():
                future.set_result(None)
        for _ in range(turns):
            await asyncio.sleep(0.0002)
        await self.crash()

    def know(self, conversation: str) -> None:
        self._names[incident_of(conversation)] = conversation

    def rung(self, incident: str, key: str) -> None:
        self._ledger.hear(self._names[incident], key, self._fake.now())


class _Pager(FakePager):
    def __init__(self, machine: Machine, clock: SimulatedClock) -> None:
        super().__init__("pager", clock)
        self._machine = machine

    async def send(self, page):
        self._machine.rung(page.incident, page.dedup_key)
        return await super().send(page)


async def test_restarts_and_a_moved_clock(url: str, tmp_path: Path, form: Form, tell: Tell) -> None:
    short = (
        (1_000, 12) if url.startswith("sqlite") else (300, 6)
    )  # each operation is a way to another process
    deadlines, restarts = form.pick(short, (10_000, 120))
    chance = random.Random(6)
    ledger, fake = Ledger(), FakeClock()
    machine = Machine(url, tmp_path, ledger, fake)
    begun, lasts = fake.now(), deadlines / RATE
    for number in range(deadlines):
        name, due = f"c{number}", chance.uniform(1, lasts)
        said = due - POLICY.reply_deadline.total_seconds()
        machine.know(name)
        machine.unsaid.append((said, user(name, "crisis", said)))
        if number % 10 == 0:  # this one is answered before anybody is due
            machine.unsaid.append((said + 0.5, reply(name, "good", said + 0.5)))
        else:
            at = begun + timedelta(seconds=due)
            ledger.owe(Owed(name, at - ROUGHLY, at + timedelta(seconds=30)))
    machine.unsaid.sort(reverse=True)
    await machine.begin()
    crashes = 0
    for number in range(restarts):
        machine.wrong = chance.choice((3600.0, -3600.0, 90.0, 0.0))
        seconds = chance.uniform(0, 2 * lasts / restarts)
        if number % CRASHES == 0:
            crashes += 1
            await machine.live_and_crash(seconds, chance.randrange(40))
        else:
            await machine.live(seconds)
            await machine.end()
        machine.wrong = chance.choice((3600.0, -3600.0, 90.0, 0.0))
        await machine.begin()
    rest = (begun - fake.now()).total_seconds() + lasts + 20
    await machine.live(max(rest, 20))
    await machine.end()
    verdict = ledger.verdict()
    waits = lateness(ledger)
    p99 = waits[int(len(waits) * 0.99)]
    tell(
        6,
        f"deadlines survive, {'SQLite' if url.startswith('sqlite') else 'PostgreSQL'}",
        f"{deadlines} deadlines, {restarts} restarts ({crashes} crashes): {verdict}, {len(verdict.early)} early, "
        f"lateness p99 {p99.total_seconds():.2f} s, most {waits[-1].total_seconds():.2f} s",
    )
    assert verdict.kept
    assert p99 <= LATENESS


def lateness(ledger: Ledger) -> list[timedelta]:
    """From when each was due to its first request, shortest first."""
    first: dict[str, datetime] = {}
    for one in ledger.heard:
        first[one.crisis] = min(first.get(one.crisis, one.at), one.at)
    return sorted(
        at - ledger.owed[name].earliest - ROUGHLY for name, at in first.items() if name in ledger.owed
    )
