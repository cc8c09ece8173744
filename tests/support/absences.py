"""What tests of an absence do: lose the database, find it again, and miss somebody meanwhile."""

from __future__ import annotations

from tests.support.away_store import EVERYTHING, NOTHING
from tests.support.fake_clock import FakeClock
from tests.support.worker import Worker, reply, user


async def lose(worker: Worker) -> None:
    worker.store.away = EVERYTHING
    await worker.wait(1)


async def find(worker: Worker) -> None:
    worker.store.away = NOTHING
    await worker.wait(3)


def seconds(worker: Worker) -> float:
    """Now, as events tell it."""
    return (worker.clock.now() - FakeClock().now()).total_seconds()


async def miss(worker: Worker, conversation: str) -> None:
    now = seconds(worker)
    await worker.read(user(conversation, "crisis", now), reply(conversation, "sleep tip", now + 0.1))
