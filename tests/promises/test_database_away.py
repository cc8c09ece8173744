"""Row 4: PostgreSQL goes away under running workers. Pages go out without it, and are recorded when it is back."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.commit_watch import CommitWatch, watching_commits
from tests.support.crew import Crew, crew, until_health
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, Owed
from tests.support.postgres import Cluster
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.postgres, pytest.mark.xdist_group("patience")]

GRACE = timedelta(seconds=0.5)
DEADLINE = timedelta(seconds=4)
WITHIN = timedelta(seconds=5)  # of being due, whatever the database does
SECOND = timedelta(seconds=1)
CLOCKS = timedelta(seconds=0.5)  # that the workers' common time may be from ours
BACK = 75.0  # seconds within which everything is recorded: the longest stay in the boat, and reading again
QUIET = 3  # ordinary exchanges beside each crisis


class Traffic:
    """A second: one crisis that is dropped, or one that nobody answers, among exchanges that are well."""

    def __init__(self, team: Crew, ledger: Ledger) -> None:
        self._team = team
        self._ledger = ledger
        self.sent = 0
        self.ending = (
            False  # not by cancelling: what is on its way to the topic would be read and not counted
        )
        self._seconds = 0

    async def run(self) -> None:
        while not self.ending:
            await self.second()
            await asyncio.sleep(1)

    async def second(self) -> None:
        self._seconds += 1
        number, now = self._seconds, self._team.clock.now()
        crisis = f"crisis {number}"
        if number % 3:
            said = list(exchange(crisis, "crisis", "sleep tip", now - SECOND))
            due = now + GRACE
        else:
            said = [Said(crisis, "user", "crisis", now)]
            due = now + DEADLINE
        for quiet in range(QUIET):
            said += exchange(f"quiet {number} {quiet}", "hello", "chat", now - SECOND)
        self._team.know([crisis])
        self._ledger.owe(Owed(crisis, due - CLOCKS, due + WITHIN))
        self.sent += await put(self._team.broker.bootstrap_servers, self._team.topic, said)


async def test_stopped_and_started(
    broker: Broker, tmp_path: Path, postgres: Cluster, postgres_url: str, form: Form, tell: Tell
) -> None:
    ledger = Ledger()
    async with (
        crew(
            broker,
            tmp_path,
            None,
            postgres_url,
            WATCHING__GRACE_SECONDS=str(GRACE.total_seconds()),
            WATCHING__REPLY_DEADLINE_SECONDS=str(DEADLINE.total_seconds()),
        ) as team,
        watching_commits(team) as watch,
    ):
        team.add()
        team.add()
        await team.ready()
        team.hear_into(ledger)
        traffic = Traffic(team, ledger)
        for _ in range(6):  # some deadlines fall while the database is away
            await traffic.second()
        running = asyncio.create_task(traffic.run())
        stops = await (_restart(postgres) if form.long else _stop(postgres))
        traffic.ending = True
        await running
        await until(lambda: not ledger.missing, 30, 0.1)
        for worker in team.workers:
            await until_health(worker, lambda answer: answer["status"] == "ok", BACK)
        await team.until_all_read(traffic.sent, within=BACK)
        await until(lambda: _recorded(team)[2] >= len(ledger.owed), BACK, 0.2)
        verdict = ledger.verdict()
        recorded = _recorded(team)
    tell(
        4,
        "the database is away",
        f"{stops} absences, {verdict}, {_told(watch, recorded)}; {verdict.latest}",
    )
    assert verdict.kept
    assert recorded == (len(ledger.owed),) * 3
    assert watch.ahead == []
    assert watch.away
    assert watch.checked
    assert verdict.requests <= stops


def _recorded(team: Crew) -> tuple[int, int, int]:
    """Incidents; rows of first pages; those of them that somebody accepted."""
    [(incidents,)] = team.rows("SELECT count(*) FROM incidents")
    first = team.first_pages()
    return incidents, len(first), first.count("accepted")


def _told(watch: CommitWatch, recorded: tuple[int, int, int]) -> str:
    return f"{recorded[2]} recorded once, {len(watch.ahead)} of {watch.checked} commits ahead of the database"


async def _stop(postgres: Cluster) -> int:
    await asyncio.to_thread(postgres.stop)
    try:
        await asyncio.sleep(45)
    finally:
        await asyncio.to_thread(postgres.start)
    return 1


async def _restart(postgres: Cluster) -> int:
    """Every 5 to 40 seconds for ten minutes, for up to as long."""
    chance, loop = random.Random(4), asyncio.get_running_loop()
    end, stops = loop.time() + 600, 0
    while loop.time() < end:
        await asyncio.sleep(chance.uniform(5, 40))
        await asyncio.to_thread(postgres.stop)
        try:
            await asyncio.sleep(chance.uniform(0, 15))
        finally:
            await asyncio.to_thread(postgres.start)
        stops += 1
    return stops
