"""A worker whose parts can be frozen one by one, as a fault would: they neither go on nor end, and nobody is told.

Parts whose names stand in the file ``freeze`` of the state directory are frozen from then on; a worker that finds
no such file when it starts is an ordinary one.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from detectors.finding import UserSignal
from monitor.app import App
from monitor.sources.record import Record
from monitor.store.work import Partition
from monitor.worker import Worker
from tests.support.builders import USERS

FREEZE = "freeze"
# Beside the loops of a worker: the batch in hand, the HTTP side, and a detector that answers and says nothing.
HANDLER, WEB, DETECTOR, DEAF = "handler", "web", "detector", "deaf"


def freezable(state: Path) -> bool:
    return (state / FREEZE).exists()


@types.coroutine
def freezing(loop: Coroutine[Any, Any, None], stopped: Callable[[], bool]) -> Generator[Any, Any, None]:
    """Drive a coroutine until ``stopped`` says that it goes no further; it can still be cancelled."""
    send, given = loop.send, None
    while True:
        try:
            waits_for = send(given)
        except StopIteration:
            return
        try:
            given, send = (yield waits_for), loop.send
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is for the coroutine
            given, send = error, loop.throw  # type: ignore[assignment]
        if stopped():  # whatever woke it, a time limit of its own included, wakes it no more
            yield from asyncio.get_running_loop().create_future()


class FreezableWorker(Worker):
    frozen: Callable[[str], bool]

    def loops(self) -> dict[str, Coroutine[Any, Any, None]]:
        return {name: self._run(name, loop) for name, loop in super().loops().items()}

    async def _run(self, name: str, loop: Coroutine[Any, Any, None]) -> None:
        await freezing(loop, lambda: self.frozen(name))


class FreezableApp(App):
    def _frozen(self, part: str) -> bool:
        return part in (self._settings.state_dir / FREEZE).read_text(encoding="utf-8").split()

    def _make_worker(self, guard: Any) -> Worker:
        made = super()._make_worker(guard)
        pipeline = made._parts.source._handler
        pipeline.handle = self._hanging(pipeline.handle)
        guard.score = self._dumb(guard.score)
        worker = FreezableWorker(made._parts)
        worker.frozen = self._frozen
        return worker

    def _make_web(self) -> Starlette:
        made = super()._make_web()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if self._frozen(WEB):
                await asyncio.Event().wait()
            await made(scope, receive, send)

        return app  # type: ignore[return-value]

    def _hanging(self, handle: Callable[..., Any]) -> Callable[..., Any]:
        async def hanging(batch: Sequence[Record]) -> Mapping[Partition, int]:
            if self._frozen(HANDLER):
                await asyncio.Event().wait()
            return await handle(batch)

        return hanging

    def _dumb(self, score: Callable[..., Any]) -> Callable[..., Any]:
        async def dumb(unscored: Sequence[Any]) -> list[Any]:
            found = list(await score(unscored))
            name = "unscored" if self._frozen(DETECTOR) else "hello" if self._frozen(DEAF) else None
            return [USERS[name] if name and isinstance(one, UserSignal) else one for one in found]

        return dumb
