"""Pages as lines on a stream, for development and the demo. Nobody is woken by it."""

from __future__ import annotations

import sys
from typing import TextIO

from alerts.delivery import Answer, Attempt
from alerts.page import Page
from alerts.pagers.settings import Name, PagerSettings
from alerts.wording import word


class ConsoleSettings(PagerSettings):
    name: Name = "console"


class Console:
    """Writes to ``stream``, or to whatever standard error is at that moment."""

    def __init__(self, settings: ConsoleSettings | None = None, stream: TextIO | None = None) -> None:
        self._settings = settings or ConsoleSettings()
        self.name = self._settings.name
        self._stream = stream

    async def send(self, page: Page) -> Attempt:
        wording = word(page, self._settings.lang)
        line = " | ".join([wording.title, *(url for _, url in wording.links)])
        try:
            print(line, file=self._stream or sys.stderr, flush=True)
        except (OSError, ValueError):
            return Attempt(Answer.UNAVAILABLE, "stream_closed")
        return Attempt(Answer.ACCEPTED, "written")

    async def close(self) -> None:
        """The stream belongs to whoever gave it."""
