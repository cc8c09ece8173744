"""The worker's end: when a part ends by itself, and when it finds itself dead."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, cast

import pytest

from monitor.errors import JiezhuError
from monitor.health import Health, Judge
from monitor.last_resort import LastResort
from monitor.worker import Parts, Worker

# It would end this process forty seconds later: here the process is the tests'.
QUICK = partial(LastResort, look=0.005, looks=3, kill=lambda _status: None)


class Stub(Worker):
    """With one loop, and a health that is told."""

    def __init__(self, reasons: tuple[str, ...], loop: Coroutine[Any, Any, None]) -> None:
        super().__init__(cast(Parts, None), QUICK)
        self._reasons = reasons
        self._loop = loop
        self.stopped = 0

    def loops(self) -> dict[str, Coroutine[Any, Any, None]]:
        return {"timers": self._loop}

    def health(self, judge: Judge) -> Health:
        del judge
        return Health(self._reasons)

    async def _stop(self, tasks: set[asyncio.Task[None]]) -> None:
        self.stopped += 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ended(worker: Worker, *, stop: bool = False) -> None:
    serving = asyncio.create_task(asyncio.sleep(3600), name="web")
    ending = asyncio.create_task(asyncio.sleep(0.1 if stop else 3600))
    try:
        async with asyncio.timeout(10):
            await worker.run(serving, ending, asyncio.create_task(asyncio.sleep(0)))
    finally:
        ending.cancel()


async def test_one_that_is_dead_ends_in_good_order_and_as_a_failure():
    worker = Stub(("timers_stalled",), asyncio.sleep(3600))
    with pytest.raises(JiezhuError, match="last_resort"):
        await ended(worker)
    assert worker.stopped == 1


async def test_one_that_is_told_to_end_is_no_failure():
    worker = Stub((), asyncio.sleep(3600))
    await ended(worker, stop=True)
    assert worker.stopped == 1


async def test_a_part_that_ends_by_itself_takes_the_process_with_it():
    with pytest.raises(JiezhuError, match="timers"):
        await ended(Stub((), asyncio.sleep(0)))
