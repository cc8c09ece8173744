"""Styles are worth no page: whatever hangs or breaks in them, a miss rings as it would without them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest

from monitor.drift.looking import Comparisons
from monitor.publisher import LOOK, Publisher, Publishing
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.styling import Styling
from tests.support.fake_clock import FakeClock, settle
from tests.support.style_weeks import KEEP
from tests.support.tallies import Watched
from tests.support.worker import Worker, reply, user

T = TypeVar("T")
HUNG = ("fold", "compare")


class Thread:
    """Where CPU work goes. What ``hangs`` names never comes back."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs
        self.entered = 0

    async def __call__(self, work: Callable[[], T]) -> T:
        self.entered += 1
        if self._hangs:
            await asyncio.Event().wait()
        return work()


def broken(*_: object) -> bytes:
    raise ValueError("no sketch")


async def rung_after(worker: Worker) -> float | None:
    """Seconds until somebody was rung for a crisis that nobody answers."""
    await worker.start()
    await worker.read(user("c", "crisis", 0), reply("c", "good", 1), user("c", "crisis", 2))
    begun = worker.clock.now()
    for _ in range(200):
        if worker.rung:
            break
        await worker.wait(1)
    await worker.stop()
    return (worker.clock.now() - begun).total_seconds() if worker.rung else None


@pytest.mark.parametrize("what", ["nothing", "fold", "compare", "breaks"])
async def test_a_page_comes_when_it_would_whatever_styles_do(what):
    clock, store = FakeClock(), MemoryStore()
    worker = Worker(store, clock)
    worker.scoring.styling = Styling(b"k")
    tallies = MemoryTallies(store)
    folding, comparing = (Thread(hangs=what == one) for one in HUNG)
    publisher = Publisher(
        tallies,
        clock,
        lambda: clock.now().timestamp(),
        "one",
        Watched(),
        Publishing(
            fold_style=broken if what == "breaks" else lambda stood, styles: (stood or b"") + b"s",
            more=Comparisons(tallies, store, KEEP, aside=comparing),
        ),
        aside=folding,
    )
    running = asyncio.create_task(publisher.run())
    await settle()
    assert await rung_after(worker) == await rung_after(Worker(MemoryStore(), FakeClock()))
    await clock.advance(LOOK)
    assert folding.entered > 0
    assert what in ("fold", "breaks") or comparing.entered > 0
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
