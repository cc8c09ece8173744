"""A few threads of one's own for blocking work, which nobody waits for at exit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Lanes:
    """Unlike an executor's, its threads are not joined when the process ends: one may hang in foreign code for ever."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._begun = False

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do ``work`` in the next free thread. What is cancelled before its turn is not begun."""
        if not self._begun:
            self._begun = True
            for number in range(self._count):
                threading.Thread(target=self._run, name=f"{self._name}_{number}", daemon=True).start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            if future.cancelled():
                return
            try:
                settle, what = _give, work()
            except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
                settle, what = _fail, error  # type: ignore[assignment]
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody asks any more
                loop.call_soon_threadsafe(settle, future, what)

        self._work.put(run)
        return future

    def close(self) -> None:
        """Let the threads end after what they have in hand; a hanging one stays behind."""
        for _ in range(self._count):
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Any) -> None:
    if not future.done():
        future.set_exception(error)
