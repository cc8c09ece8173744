"""Waiting for real sockets, threads and databases: for a condition, with an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], bool], within: float = 5.0, every: float = 0.002) -> None:
    """Return as soon as ``condition`` holds, asked ``every`` so many seconds; fail after ``within``."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not condition():
        assert loop.time() < end, f"did not happen within {within} s"
        await asyncio.sleep(every)
