"""Row 15: SIGTERM under load, again and again. A worker ends by itself and in time; what it had in hand is done."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.quick_worker import SCORED
from tests.support.stream import exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

STOP_WITHIN = 25.0
LINES = 4  # side by side, each with a database of its own: most of the time is the group's
BATCH = 32
LOAD = 4 * BATCH  # records that wait, at least
EACH = 0.01  # seconds a text: a batch takes a while, so that the signal finds one in hand
WITHIN = timedelta(seconds=90)


async def test_stopped_under_load(
    broker: Broker, tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    stops = form.pick(20, 200)
    folders = [tmp_path / str(line) for line in range(LINES)]
    for folder in folders:
        folder.mkdir()
    databases = [new_database() for _ in folders]
    lines = await asyncio.gather(
        *(
            _line(broker, folder, database, stops // LINES)
            for folder, database in zip(folders, databases, strict=True)
        )
    )
    in_hand = sum(line.in_hand for line in lines)
    longest = max(line.longest for line in lines)
    again = max(line.again for line in lines)
    verdicts = [line.ledger.verdict() for line in lines]
    tell(
        15,
        f"SIGTERM under load ({databases[0].partition(':')[0]})",
        f"{stops} stops, {in_hand} with a batch in hand, exit 0 after {longest:.1f} s at most, at most {again} "
        f"records of one stop read again (a batch is {BATCH}), {' and '.join(sorted({str(one) for one in verdicts}))}",
    )
    assert all(verdict.kept for verdict in verdicts)
    assert longest <= STOP_WITHIN
    assert again <= BATCH
    assert in_hand >= stops / 4  # or it was no load


@dataclass(slots=True)
class Line:
    """One worker that is stopped and started; ``again``: most records of one stop that were scored twice."""

    ledger: Ledger = field(default_factory=Ledger)
    in_hand: int = 0
    again: int = 0
    longest: float = 0.0


async def _line(broker: Broker, folder: Path, database: str, stops: int) -> Line:
    line, chance = Line(), random.Random(folder.name)
    async with crew(
        broker,
        folder,
        None,
        database,
        WATCHING__GRACE_SECONDS="0.5",
        KAFKA__BATCH_RECORDS=str(BATCH),
    ) as team:
        (team.state / SCORED).touch()
        team.pace(EACH)
        team.hear_into(line.ledger)
        team.add()
        await team.ready()
        sent = twice = 0
        for stop in range(stops):
            # Topped up, not added to: a stop lets few batches be read, and what only grows is late by arithmetic.
            if sent - team.read() < LOAD:
                sent = await _send(team, line.ledger, stop, sent)
            await _until_more_is_read(team)
            await asyncio.sleep(chance.uniform(0, 0.3))
            line.again, twice = max(line.again, _twice(team) - twice), _twice(team)
            line.in_hand += _scored(team) > team.read()
            line.longest = max(line.longest, await _stop(team))
            team.workers[0].start()
        team.pace(0)
        await team.until_all_read(sent, within=60)
        line.again = max(line.again, _twice(team) - twice)
        await until(lambda: not line.ledger.missing, 60, 0.1)
        await team.until_settled()
    return line


async def _until_more_is_read(team: Crew) -> None:
    before = team.read()
    await until(lambda: team.read() > before, 60, 0.02)


async def _stop(team: Crew) -> float:
    begun = time.monotonic()
    code = await asyncio.to_thread(team.workers[0].stop)
    assert code == 0
    return time.monotonic() - begun


async def _send(team: Crew, ledger: Ledger, stop: int, sent: int) -> int:
    """As much as ``LOAD``, with a crisis in each batch; every text has a number of its own."""
    now = team.clock.now()
    said = []
    for number in range(LOAD // 2):
        dropped = number % 16 == 0
        name = f"stop {stop} {number}"
        user, reply = ("crisis", "sleep tip") if dropped else ("hello", "chat")
        said += exchange(name, f"{user}|{sent + 2 * number}", f"{reply}|{sent + 2 * number + 1}", now)
        if dropped:
            team.know([name])
            owe_all(ledger, [name], now, WITHIN)
    return sent + await put(team.broker.bootstrap_servers, team.topic, said)


def _counts(team: Crew) -> Counter[str]:
    return Counter((team.state / SCORED).read_text(encoding="utf-8").split())


def _scored(team: Crew) -> int:
    return len(_counts(team))


def _twice(team: Crew) -> int:
    return sum(count - 1 for count in _counts(team).values())
