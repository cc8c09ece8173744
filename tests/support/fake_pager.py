"""A pager that answers as it was told and remembers who was rung. Time comes from the clock it is given."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from alerts.delivery import Answer, Attempt
from alerts.page import Page
from alerts.ports import Clock

YES = Attempt(Answer.ACCEPTED, "http_202")
NO = Attempt(Answer.REJECTED, "http_400")
BROKEN = Attempt(Answer.UNAVAILABLE, "http_500")
LOST = Attempt(Answer.LOST, "connection_lost")


class Hang:
    """No answer, ever."""


class Fault:
    """The pager raises, which it should not."""


class After:
    """An answer that takes its time."""

    def __init__(self, duration: timedelta, attempt: Attempt = YES) -> None:
        self.duration = duration
        self.attempt = attempt


Does = Attempt | Hang | Fault | After


class FakePager:
    """``script`` is used up request by request, then ``then`` answers."""

    def __init__(self, name: str, clock: Clock, *script: Does, then: Does = YES) -> None:
        self.name = name
        self.then = then
        self.rung: list[tuple[datetime, Page]] = []  # each request made
        self.got: list[Page] = []  # each page it said yes to, or lost the yes for
        self.on_the_way: dict[str, int] = {}
        self.most_at_once = 0
        self.most_of_one_page = 0
        self._script = list(script)
        self._clock = clock

    @property
    def keys(self) -> list[str]:
        return [page.dedup_key for _, page in self.rung]

    def mend(self) -> None:
        """Say yes to everything from now on."""
        self._script.clear()
        self.then = YES

    async def send(self, page: Page) -> Attempt:
        self.rung.append((self._clock.now(), page))
        key = page.dedup_key
        self.on_the_way[key] = self.on_the_way.get(key, 0) + 1
        self.most_of_one_page = max(self.most_of_one_page, self.on_the_way[key])
        self.most_at_once = max(self.most_at_once, sum(self.on_the_way.values()))
        try:
            return await self._answer(page)
        finally:
            self.on_the_way[key] -= 1

    async def close(self) -> None:
        """Nothing is open."""

    async def _answer(self, page: Page) -> Attempt:
        does = self._script.pop(0) if self._script else self.then
        if isinstance(does, Hang):
            await asyncio.Event().wait()
        if isinstance(does, Fault):
            raise ZeroDivisionError
        if isinstance(does, After):
            await self._clock.sleep(does.duration)
            does = does.attempt
        assert isinstance(does, Attempt)
        if does.answer in (Answer.ACCEPTED, Answer.LOST):
            self.got.append(page)
        return does
