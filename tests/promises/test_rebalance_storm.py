"""Row 8: members join and leave all the time, and some come back from a freeze as zombies with a batch in hand."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.demo.workers import Worker
from tests.support.crew import Crew, crew, get
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import Said, crowd, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("endurance")]

GUESTS = 2  # who join and leave side by side; two more stay
LEASE = 15.0
EACH = 0.01  # seconds a text: a batch takes a while, so that a rebalance finds one in hand
SLOWLY = 0.1  # so that a batch is in hand for seconds
EVENTS = 200  # of a part
LOAD = 3 * EVENTS  # records that wait, about
WITHIN = timedelta(minutes=5)


async def test_members_come_and_go(
    broker: Broker, tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    visits, zombies = form.pick((20, 1), (200, 10))
    ledger = Ledger()
    sent = 0
    async with crew(broker, tmp_path, None, new_database(), WATCHING__GRACE_SECONDS="0.5") as team:
        steady = [team.add(), team.add()]
        await team.ready()
        team.hear_into(ledger)
        team.pace(EACH)
        visiting = [
            asyncio.create_task(_visit(team.add(), visits // GUESTS, random.Random(guest)))
            for guest in range(GUESTS)
        ]
        while not all(visit.done() for visit in visiting):
            # No more than is read: what a group that never comes to rest leaves unread grows, and is late by arithmetic.
            if sent - team.read() < LOAD:
                sent += await _send(team, ledger, sent)
            await asyncio.sleep(1)
        await asyncio.gather(*visiting)
        stormed = team.read()
        team.pace(0)
        await team.until_all_read(sent, within=form.pick(90, 1200))
        for number in range(zombies):
            team.pace(SLOWLY)
            sent += await _send(team, ledger, sent)
            await _come_back_from_the_dead(team, steady[number % 2], sent)
        await until(lambda: not ledger.missing, LEASE + 60, 0.1)
        await team.until_settled()
        counted = sum([await _fenced(worker) for worker in steady])
        logged = sum(map(_void, team.logs.glob("worker-[12].log")))
        everywhere = sum(map(_void, team.logs.iterdir()))
    verdict = ledger.verdict()
    tell(
        8,
        f"rebalance storm ({team.database.partition(':')[0]})",
        f"{visits} joined and left, {stormed} of {sent} read meanwhile, {zombies} back from the dead, "
        f"{everywhere} transactions fenced, {counted} of {logged} of those who stayed counted, {verdict}",
    )
    assert verdict.kept
    assert counted == logged >= zombies
    assert stormed > 0


async def _send(team: Crew, ledger: Ledger, already: int) -> int:
    now = team.clock.now()
    said: list[Said] = list(crowd(f"storm {already}", EVENTS, 4, now))
    due = [one.conversation for one in said if one.role == "user" and one.conversation.endswith("dropped")]
    team.know(due)
    owe_all(ledger, due, now, WITHIN)
    return await put(team.broker.bootstrap_servers, team.topic, said)


async def _visit(guest: Worker, visits: int, chance: random.Random) -> None:
    for visit in range(visits):
        if visit:
            guest.start()
        await guest.wait_serving()
        await asyncio.sleep(chance.uniform(0, 2.5))
        await asyncio.to_thread(guest.stop)


async def _come_back_from_the_dead(team: Crew, worker: Worker, sent: int) -> None:
    """Frozen with a batch in hand until the others have read everything, that batch included."""
    await until(lambda: team.read() < sent, 5, 0.005)
    before = await _fenced(worker)
    await _until(lambda: _in_hand(worker))
    os.kill(worker.pid, signal.SIGSTOP)
    team.pace(EACH)
    try:
        await team.until_all_read(sent, within=60)
    finally:
        os.kill(worker.pid, signal.SIGCONT)
    await _until(lambda: _differs(worker, before))


async def _differs(worker: Worker, before: int) -> bool:
    return await _fenced(worker) != before


async def _in_hand(worker: Worker) -> bool:
    """Nothing else of a batch takes long: what was folded and not yet detected is in hand."""
    folded = await _count(worker, 'jiezhu_batch_seconds_count{stage="fold"}')
    return folded > await _count(worker, 'jiezhu_batch_seconds_count{stage="detect"}')


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def _fenced(worker: Worker) -> int:
    return await _count(worker, "jiezhu_fenced_batches_total")


async def _count(worker: Worker, series: str) -> int:
    lines = (await get(f"{worker.url}/metrics")).text.splitlines()
    return sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(f"{series} "))


def _void(log: Path) -> int:
    return log.read_text(encoding="utf-8").count('"batch_was_void"')
