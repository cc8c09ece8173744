"""Waiting with an end, on the clock that is given: tests move it instead of sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from alerts.ports import Clock

T = TypeVar("T")


async def within(clock: Clock, limit: timedelta, work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` returns. Raise ``TimeoutError`` when ``limit`` passes first; it is then cancelled.

    Work that ignores its cancellation is left behind, not waited for.
    """
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.sleep(limit))
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise TimeoutError
    finally:
        timer.cancel()
        if not task.done():
            task.add_done_callback(_look_away)
            task.cancel()


async def either(clock: Clock, limit: timedelta, event: asyncio.Event) -> bool:
    """Wait for ``event``, but no longer than ``limit``. True if it came."""
    try:
        await within(clock, limit, event.wait())
    except TimeoutError:
        return False
    return True


def _look_away(task: asyncio.Task[Any]) -> None:
    """Take the exception of work that nobody waits for, or the loop complains of it."""
    if not task.cancelled():
        task.exception()
