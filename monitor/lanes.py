"""A few threads of one's own for blocking work, which nobody waits for at exit."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Lanes:
    """Unlike an executor's, its threads are not joined when the process ends: one may hang in foreign code for ever."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = threading.Semaphore(0)

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do ``work`` in the next free thread. What is cancelled before its turn is not begun.

        Raise RuntimeError if there is no thread, and none can be had.
        """
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
        if not self._idle.acquire(blocking=False) and len(self._threads) < self._count:
            name = f"{self._name}_{len(self._threads)}"
            thread = threading.Thread(target=self._run, name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                if not self._threads:  # else one of those takes it, later
                    future.cancel()
                    raise
            else:
                self._threads.append(thread)
        return future

    @property
    def alive(self) -> bool:
        """Whether a thread is still there. After ``close``: one that hangs."""
        return any(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Let the threads end after what they have in hand; a hanging one stays behind."""
        for _ in range(self._count):
            self._work.put(None)

    def _run(self) -> None:
        while True:
            try:
                work = self._work.get_nowait()
            except Empty:
                self._idle.release()
                work = self._work.get()
            if work is None:
                return
            work()


def _give(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Any) -> None:
    if not future.done():
        future.set_exception(error)
