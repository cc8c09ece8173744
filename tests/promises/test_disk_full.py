"""Row 14: the disk under the database is full. Pages go out all the same, nothing is spoilt, and it mends by itself."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.crew import Crew, Ring, crew, until_health
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, Owed
from tests.support.small_disk import small_disk
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

GRACE = timedelta(seconds=0.5)
DEADLINE = timedelta(seconds=4)
PROMPT = timedelta(seconds=5)
# For what stood in the outbox: the longest back-off, and a start of the worker.
PATIENCE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)
MOST = 300  # writes that find room inside a file
STUCK = 3.0  # seconds that a write takes at most, if it is taken


class Pager:
    """Deaf, it answers every request with 500."""

    def __init__(self, team: Crew, ledger: Ledger) -> None:
        self.deaf = False
        self.refused = 0
        self._team = team
        self._ledger = ledger
        team.heard = self._heard

    def _heard(self, ring: Ring) -> None:
        if self.deaf:
            self.refused += 1
            raise ConnectionRefusedError
        if ring.content["kind"] == "page":
            self._ledger.hear(self._team.conversation(ring), ring.key, ring.at, ring.content["step"])


class Round:
    """One time full: before it a page in the outbox and a deadline that runs, while it lasts a crisis that is dropped."""

    def __init__(self, team: Crew, ledger: Ledger, number: int) -> None:
        self.team = team
        self.ledger = ledger
        self.waiting, self.silent, self.dropped = (
            f"{name} {number}" for name in ("waiting", "silent", "dropped")
        )
        team.know([self.waiting, self.silent, self.dropped])

    async def before(self, pager: Pager, records: int) -> int:
        refused, pager.deaf = pager.refused, True
        now = self.team.clock.now()
        said = [*exchange(self.waiting, "crisis", "sleep tip", now - SECOND)]
        records += await self._put(said)
        self._owe(self.waiting, now, PATIENCE)
        await until(lambda: pager.refused > refused, 30, 0.05)
        now = self.team.clock.now()
        records += await self._put([Said(self.silent, "user", "crisis", now)])
        self._owe(self.silent, now + DEADLINE, PATIENCE)
        await self.team.until_all_read(records)
        return records

    async def meanwhile(self, within: timedelta) -> int:
        now = self.team.clock.now()
        said = [*exchange(self.dropped, "crisis", "sleep tip", now - SECOND)]
        for other in range(20):
            said += exchange(f"{self.dropped} {other}", "hello", "chat", now - SECOND)
        self._owe(self.dropped, now, within)
        return await self._put(said)

    async def until_full(self, records: int) -> int:
        """What the file and its log have room for inside is still written: more is said, until something is not."""
        for number in range(MOST):
            more = f"{self.dropped} more {number}"
            records += await self._put(list(exchange(more, "hello", "chat", self.team.clock.now() - SECOND)))
            with contextlib.suppress(AssertionError):
                await self.team.until_all_read(records, STUCK)
                continue
            return records
        raise AssertionError("the disk was not full")

    def _owe(self, crisis: str, due: datetime, within: timedelta) -> None:
        self.ledger.owe(Owed(crisis, due - SECOND, due + within))

    async def _put(self, said: list[Said]) -> int:
        return await put(self.team.broker.bootstrap_servers, self.team.topic, said)


async def test_full_and_free_again(
    broker: Broker, tmp_path: Path, sqlite_template: Path, form: Form, tell: Tell
) -> None:
    rounds, stay = form.pick((2, 2.0), (20, 20.0))
    ledger, records = Ledger(), 0
    with small_disk(tmp_path) as disk:
        file = disk.path / "jiezhu.sqlite"
        shutil.copy(sqlite_template, file)
        async with crew(
            broker,
            tmp_path,
            None,
            f"sqlite:///{file}",
            WATCHING__GRACE_SECONDS=str(GRACE.total_seconds()),
            WATCHING__REPLY_DEADLINE_SECONDS=str(DEADLINE.total_seconds()),
        ) as team:
            worker = team.add()
            await team.ready()
            pager = Pager(team, ledger)
            for number in range(rounds):
                one = Round(team, ledger, number)
                records = await one.before(pager, records)
                disk.fill(worker.pid)
                killed = number % 2 == 1
                if killed:  # nothing is in memory: what goes out comes from the file
                    worker.kill()
                    worker.start()
                    await worker.wait_serving()
                    disk.fill(worker.pid)
                pager.deaf = False
                records += await one.meanwhile(PATIENCE if killed else GRACE + PROMPT)
                await until(lambda: not ledger.missing, PATIENCE.total_seconds(), 0.05)
                records = await one.until_full(records)
                await asyncio.sleep(stay)
                assert team.read() < records, "the disk was not full"
                disk.free(worker.pid)
                await until_health(worker, lambda answer: answer["status"] == "ok", 90)
                await team.until_all_read(records)
                await until(lambda: team.first_pages().count("accepted") >= len(ledger.owed), 30, 0.1)
            verdict = ledger.verdict()
            whole = team.rows("PRAGMA integrity_check") == [("ok",)]
            recorded = team.first_pages().count("accepted")
    told = f"{disk.kind}, {rounds} times full, {verdict}, the file is {'whole' if whole else 'SPOILT'}"
    tell(14, "the disk is full", f"{told}; {recorded} recorded")
    assert verdict.kept
    assert whole
    assert recorded == len(ledger.owed)
    assert verdict.requests <= rounds
