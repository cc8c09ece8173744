"""A whole worker process whose detectors answer by markers: it starts at once and keeps up with any source.

Everything else is what ships: broker, database, timers, relay, pagers, web. Run as ``python -m``. While it runs, a file
in the state directory, ``engine``, says how its engine is (see ``moody``), and another, ``clock``, by how many seconds
this machine's clock is wrong. It may be told to end itself: see ``crash_points``.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from detectors.encoder import Progress
from monitor.app import App
from monitor.clock import SteadyClock
from monitor.log import configure
from monitor.scoring import Scoring
from monitor.settings import Settings, load
from tests.support.crash_points import Points
from tests.support.freezable import FreezableApp, freezable
from tests.support.moody import Mood, moody


def scripted(settings: Settings, _progress: Progress, _sketch_key: bytes) -> Scoring:
    return moody(lambda: mood(settings.state_dir))


def mood(state: Path) -> Mood:
    try:
        return Mood((state / "engine").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Mood.WELL


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
