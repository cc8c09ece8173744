"""Row 23: one release is replaced by the next while both run, and goes back. Nothing is lost, nobody rung twice.

The order is that of ``deploy/README.md``: the tables first, under the old workers; then new ones beside them.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.demo.workers import Worker, inherited
from monitor.store.migration import Tables, current, head, migrate, tables
from tests.support.crew import Crew, crew
from tests.support.forked import warm
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.postgres import Cluster
from tests.support.release_before import ReleaseBefore
from tests.support.stream import Said, crowd, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("endurance")]

LEASE = 15.0
WITHIN = timedelta(minutes=10)
CROSSING = 3  # crises a stage whose reply comes in the next one


class Change:
    """Two workers, of which one dies amid each stage; who comes next is the stage's to say."""

    def __init__(self, team: Crew, before: ReleaseBefore, events: int, crises: int) -> None:
        self.kills = self.sent = self.amid = self._stage = 0
        self.ledger = Ledger()
        self._team = team
        self._before = before
        self._events = events
        self._crises = crises
        self._running: list[Worker] = []
        self._killed: list[Worker] = []
        self._crossing: list[Said] = []
        self._chance = random.Random(23)
        team.hear_into(self.ledger)

    async def start(self, *, old: bool, wait: bool = True) -> None:
        worker = self._team.add(make=self._before.worker) if old else self._team.add()
        self._running.append(worker)
        if wait:
            await worker.wait_ready()

    async def stop_oldest(self) -> None:
        """Gently, as an upgrade does."""
        assert await asyncio.to_thread(self._running.pop(0).stop) == 0

    async def stage(
        self, *, next_is_old: bool, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Events come; somebody dies amid them; the next one takes the place."""
        self._stage += 1
        before = self._team.read()
        said = self._said()
        self.sent += await put(self._team.broker.bootstrap_servers, self._team.topic, said)
        if meanwhile is not None:
            await meanwhile()
        await self._until_read(before + 1)
        await asyncio.sleep(self._chance.uniform(0, 0.3))
        self.amid += await asyncio.to_thread(self._team.read) < self.sent
        self._killed.append(self._running.pop(self._chance.randrange(len(self._running))))
        self._killed[-1].kill()
        self.kills += 1
        await self.start(old=next_is_old)
        await self._until_read(self.sent)

    async def end(self) -> None:
        self.sent += await put(self._team.broker.bootstrap_servers, self._team.topic, self._crossing)
        await until(lambda: not self.ledger.missing, LEASE + 60, 0.1)
        await self._until_read(self.sent)
        await self._team.until_settled()

    def repeats_of_the_living(self) -> list[str]:
        """Keys that were rung for again though whoever rang before was not killed.

        Several crises fall due in one moment here, so that one death may leave several requests without a record.
        """
        rung: dict[str, list[Worker]] = {}
        for ring in self._team.pages():
            rung.setdefault(ring.key, []).append(ring.worker)
        return [key for key, by in rung.items() if any(worker not in self._killed for worker in by[:-1])]

    async def _until_read(self, records: int) -> None:
        """Beside the loop, on which the pager answers: a late answer would be a request of its own."""
        for _ in range(600):
            if await asyncio.to_thread(self._team.read) >= records:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{records} records were not read")

    def _said(self) -> list[Said]:
        """What nobody answered in the stage before is answered now: its case is read by whoever runs now."""
        now = self._team.clock.now()
        said = [*self._crossing, *crowd(f"stage {self._stage}", self._events, self._crises, now)]
        self._crossing = []
        for number in range(CROSSING):
            asked, replied = exchange(f"crossing {self._stage} {number} dropped", "crisis", "sleep tip", now)
            said.append(asked)
            self._crossing.append(replied)
        crises = {one.conversation for one in said if one.role == "user" and "dropped" in one.conversation}
        self._team.know(crises)
        owe_all(self.ledger, sorted(crises), now, WITHIN)
        return said


async def test_postgres_is_migrated_under_the_old_workers(
    broker: Broker, tmp_path: Path, postgres: Cluster, release_before: ReleaseBefore, form: Form, tell: Tell
) -> None:
    await asyncio.to_thread(warm)
    url = postgres.database()
    await asyncio.to_thread(release_before.migrate, url)
    before = current(url)

    async def bring_up_to_date() -> None:
        await asyncio.to_thread(migrate, url)

    async with crew(broker, tmp_path, None, url, **SETTINGS) as team:
        change = _change(team, release_before, form)
        if tables(url) is Tables.BEHIND:
            _check_that_a_new_worker_refuses(url, tmp_path)
        await change.start(old=True, wait=False)
        await change.start(old=True)
        await change.stage(next_is_old=True, meanwhile=bring_up_to_date)
        assert current(url) == head()
        await change.stage(next_is_old=False)
        await change.stop_oldest()
        await change.start(old=False)
        await change.stage(next_is_old=True)  # going back, on the new tables
        await change.end()
    _judge(change, f"PostgreSQL from {before} to {head()}", tell)


async def test_sqlite_is_migrated_by_the_first_new_worker(
    broker: Broker, tmp_path: Path, release_before: ReleaseBefore, form: Form, tell: Tell
) -> None:
    await asyncio.to_thread(warm)
    url = f"sqlite:///{tmp_path / 'jiezhu.sqlite'}"
    await asyncio.to_thread(release_before.migrate, url)
    before = current(url)
    async with crew(broker, tmp_path, None, url, **SETTINGS) as team:
        change = _change(team, release_before, form)
        await change.start(old=True, wait=False)
        await change.start(old=True)
        await change.stage(next_is_old=False)
        assert current(url) == head()
        await change.stage(next_is_old=True)
        await change.end()
    _judge(change, f"SQLite from {before} to {head()}", tell)


SETTINGS = {"WATCHING__GRACE_SECONDS": "0.5", "DATABASE__TIMEOUT_SECONDS": "5"}


def _change(team: Crew, before: ReleaseBefore, form: Form) -> Change:
    return Change(team, before, *form.pick((1_500, 8), (20_000, 40)))


def _judge(change: Change, what: str, tell: Tell) -> None:
    verdict = change.ledger.verdict()
    tell(
        23,
        f"an upgrade, {what}",
        f"{change.kills} kills, {change.amid} amid reading, {change.sent} events, {verdict}",
    )
    assert verdict.kept
    assert change.repeats_of_the_living() == []


def _check_that_a_new_worker_refuses(url: str, folder: Path) -> None:
    """One line that says what to do; the old workers go on."""
    given = {"STATE_DIR": str(folder / "other"), "DATABASE__URL": url, "PAGERS__CONSOLE": "true"}
    given |= {"KEYS__PSEUDONYM": "aa" * 32, "KEYS__SEAL": f"k:{'bb' * 32}"}
    environment = {**inherited(os.environ), **{f"JIEZHU_{name}": value for name, value in given.items()}}
    done = subprocess.run(
        [sys.executable, "-m", "monitor", "run"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "jiezhu migrate" in done.stderr + done.stdout
    assert tables(url) is Tables.BEHIND
