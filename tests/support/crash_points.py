"""Points at which a worker can be told to die: before and after each call of the store and each request to a pager.

Nobody lists them: every coroutine of the store and every ``send`` is wrapped as it is found, so a method that
is new has its points at once. ``JIEZHU_…`` are settings of the product; these are none:

- ``CRASH_LOG``: a file for the points that were reached, a line for each
- ``CRASH_MOST``: how many times of each are points of their own (1)
- ``CRASH_AT``: the name of the point at which the process ends itself, as a crash would
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from alerts.delivery import Attempt, Delivery
from alerts.page import Page
from alerts.ports import Clock, Pager
from monitor import assembly
from monitor.crypto.keyring import Keyring
from monitor.settings import Settings
from monitor.store.database import Database
from monitor.store.sql import SqlStore
from monitor.store.work import Work

AT, LOG, MOST = "CRASH_AT", "CRASH_LOG", "CRASH_MOST"
STATUS = 86  # of a process that ended itself


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of a run; ``names`` are those that were new in it."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        first, *others = self.names
        return first + "".join(f" + {name.rpartition(' of ')[2]}" for name in others)


def points_in(log: Path) -> list[Point]:
    """In the order in which they were reached."""
    moments: dict[str, list[str]] = {}
    for line in log.read_bytes().splitlines():
        moment, name = orjson.loads(line)
        moments.setdefault(moment, []).append(name)
    return [Point(tuple(names)) for names in moments.values()]


class Points:
    """Does nothing if it was told nothing."""

    def __init__(self, at: str | None, log: int | None, most: int) -> None:
        self._at = at
        self._log = log
        self._most = most
        self._times: Counter[str] = Counter()
        self._calls = 0

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Points:
        log = environ.get(LOG)
        out = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return cls(environ.get(AT), out, int(environ.get(MOST, "1")))

    def store(self, settings: Settings, keyring: Keyring) -> SqlStore:
        store = assembly.store(settings, keyring)
        return store if self._log is None else _Pointed(store, self)  # type: ignore[return-value]

    def pagers(self, settings: Settings, clock: Clock) -> list[Pager]:
        pagers = assembly.pagers(settings, clock)
        return pagers if self._log is None else [_Pointed(pager, self) for pager in pagers]  # type: ignore[misc]

    async def around(self, call: str, given: Sequence[Any], run: Callable[[], Awaitable[Any]]) -> Any:
        self._calls += 1
        number, names = self._calls, names_of(call, given)
        self._reach(f"{number} before", [f"before {name}" for name in names])
        answer = await run()
        self._reach(f"{number} after", [f"after {name}{_told(answer)}" for name in names])
        return answer

    def _reach(self, moment: str, names: Iterable[str]) -> None:
        for name in names:
            self._times[name] += 1
            nth = name if self._times[name] == 1 else f"{name} ({self._times[name]})"
            if self._log is not None and self._times[name] <= self._most:
                os.write(self._log, orjson.dumps([moment, nth]) + b"\n")
            if nth == self._at:
                os._exit(STATUS)


class _Pointed:
    """A store or a pager whose coroutines have a point before and after them."""

    def __init__(self, inner: object, points: Points) -> None:
        self._inner = inner
        self._points = points

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if isinstance(found, Database):
            return _Pointed(found, self._points)
        if not inspect.iscoroutinefunction(found):
            return found

        async def pointed(*given: Any, **named: Any) -> Any:
            return await self._points.around(name, given, lambda: found(*given, **named))

        return pointed


def names_of(call: str, given: Sequence[Any]) -> list[str]:
    """One name for each part of a work; a call that writes one thing has one."""
    for value in given:
        if isinstance(value, Work):
            return [f"{call} of {part.name}" for part in fields(value) if getattr(value, part.name)]
        if isinstance(value, Delivery):
            return [f"{call} of {value.state.value}"]
        if isinstance(value, Page):
            return [f"{call} of {value.kind.value}"]
        if inspect.isfunction(value):  # an operation of somebody who asks the database beside the store
            return [f"{call} by {value.__qualname__.partition('.<')[0]}"]
    return [call]


def _told(answer: Any) -> str:
    if isinstance(answer, Attempt):
        return f": {answer.answer.value}"
    if isinstance(answer, Sized):
        return ": something" if len(answer) else ": nothing"
    return ""
