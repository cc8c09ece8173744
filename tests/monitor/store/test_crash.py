"""A worker killed with SIGKILL at any moment leaves whole works behind, and nothing that holds up the next one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.errors import PositionConflict
from monitor.store.sql import SqlStore
from monitor.store.work import Advance, AuditRow, CaseWrite, Work
from tests.support.cases import NOW, PARTITION, a_case
from tests.support.pages import a_notification
from tests.support.stores import KEYRING

ROOT = Path(__file__).parents[3]
KILLS = 3


def a_step(number: int) -> Work:
    """One work that touches every kind of table; its parts can be counted afterwards."""
    return Work(
        advances=[Advance(PARTITION, number, number + 1)],
        cases=[
            CaseWrite(a_case("c-1", number), PARTITION, NOW),
            CaseWrite(a_case(f"n-{number}"), PARTITION, NOW),
        ],
        notifications=[a_notification(f"n-{number:06}")],
        audit=[AuditRow("i-1", NOW, str(number), "worker", "watching")],
    )


async def work_on(url: str) -> None:
    """What the killed process runs."""
    store = SqlStore(url, KEYRING)
    number = (await store.positions([PARTITION])).get(PARTITION, 0)
    while True:
        await store.commit(a_step(number))
        number += 1
        if number % 20 == 0:
            print(number, flush=True)


CODE = (
    "import asyncio, sys; from tests.monitor.store.test_crash import work_on;"
    " asyncio.run(work_on(sys.stdin.readline().strip()))"
)


def kill_while_working(url: str) -> None:
    command = [sys.executable, "-c", CODE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as worker:
        worker.stdin.write(f"{url}\n")
        worker.stdin.flush()
        assert worker.stdout.readline(), "it wrote nothing"
        worker.send_signal(signal.SIGKILL)


async def test_a_killed_worker_leaves_whole_works_behind(url):
    for _ in range(KILLS):
        kill_while_working(url)
    store = SqlStore(url, KEYRING)
    reached = (await store.positions([PARTITION]))[PARTITION]
    assert reached >= 20 * KILLS
    assert [row.reason for row in await store.timeline("i-1")] == [str(n) for n in range(reached)]
    assert (await store.cases(["c-1"]))["c-1"].version == reached
    assert len(await store.due(NOW, 10 * reached)) == reached + 1
    with pytest.raises(PositionConflict):
        await store.commit(a_step(reached - 1))
    await store.commit(a_step(reached))
    await store.close()
