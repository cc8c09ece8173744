"""A whole worker process whose detectors answer by markers: it starts at once and keeps up with any source.

Everything else is what ships: broker, database, timers, relay, pagers, web. Run as ``python -m``. While it runs, a file
in the state directory, ``engine``, says how its engine is (see ``moody``).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from detectors.encoder import Progress
from monitor.app import App
from monitor.log import configure
from monitor.scoring import Scoring
from monitor.settings import Settings, load
from tests.support.moody import Mood, moody


def scripted(settings: Settings, _progress: Progress, _sketch_key: bytes) -> Scoring:
    return moody(lambda: mood(settings.state_dir))


def mood(state: Path) -> Mood:
    try:
        return Mood((state / "engine").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Mood.WELL


def main() -> None:
    settings = load(None, os.environ)
    configure(settings.log.level, settings.log.format)
    asyncio.run(App(settings, scripted).run(lambda *_: None))


if __name__ == "__main__":
    main()
