"""A whole worker process whose detectors answer by markers: it starts at once and keeps up with any source.

Everything else is what ships: broker, database, timers, relay, pagers, web. Run as ``python -m``. While it runs, files
in the state directory tell it more: ``engine`` says how its engine is (see ``moody``); ``clock``, by how many seconds
this machine's clock is wrong; ``PACE`` holds the seconds that a text takes; into ``SCORED``, if it exists, goes what
follows the marker of each scored text (``hello|17``: ``17``). It may be told to end itself: see ``crash_points``.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from detectors.encoder import Progress
from detectors.finding import ReplySignal, UserSignal
from monitor.app import App
from monitor.clock import SteadyClock
from monitor.log import configure
from monitor.scoring import Scoring
from monitor.settings import Settings, load
from tests.support.crash_points import Points
from tests.support.freezable import FreezableApp, freezable
from tests.support.moody import Mood, MoodyReplies, MoodyUsers

PACE = "pace"
SCORED = "scored"


class Desk:
    """What both scorers do beside their answers; ``never`` keeps a thread that waits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.never = threading.Event()

    def mood(self) -> Mood:
        try:
            return Mood((self._folder / "engine").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Mood.WELL

    def work(self, texts: Sequence[str]) -> None:
        scored = self._folder / SCORED
        if scored.exists():
            with scored.open("a", encoding="utf-8") as out:
                out.write("".join(f"{text.partition('|')[2]}\n" for text in texts))
        try:
            seconds = float((self._folder / PACE).read_text(encoding="ascii"))
        except FileNotFoundError:
            return
        self.never.wait(seconds * len(texts))


class Users(MoodyUsers):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.mood, desk.never)
        self._desk = desk

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        self._desk.work(texts)
        return super().score(texts, langs)


class Replies(MoodyReplies):
    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.mood, desk.never)
        self._desk = desk

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        self._desk.work(texts)
        return super().score(texts, langs, regions)


def scripted(settings: Settings, _progress: Progress, _sketch_key: bytes) -> Scoring:
    desk = Desk(settings.state_dir)
    if desk.mood() is Mood.MEMORY:
        raise MemoryError
    return Scoring(Users(desk), Replies(desk))


class WrongClock:
    """What ``time.time`` says on a machine whose clock somebody sets. The file is looked at ten times a second."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._looked = float("-inf")
        self._wrong = 0.0

    def __call__(self) -> float:
        if time.monotonic() - self._looked > 0.1:
            self._looked = time.monotonic()
            try:
                self._wrong = float(self._file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                self._wrong = 0.0
        return time.time() + self._wrong


def main() -> None:
    settings = load(None, os.environ)
    configure(settings.log.level, settings.log.format)
    clock, points = SteadyClock(WrongClock(settings.state_dir / "clock")), Points.of(os.environ)
    kind = FreezableApp if freezable(settings.state_dir) else App
    app = kind(settings, scripted, clock, store=points.store, pagers=points.pagers)
    asyncio.run(app.run(lambda *_: None))


if __name__ == "__main__":
    main()
