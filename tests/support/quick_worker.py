"""A whole worker process whose detectors answer by markers: it starts at once and keeps up with any source.

Everything else is what ships: broker, database, timers, relay, pagers, web. Run as ``python -m``.
"""

from __future__ import annotations

import asyncio
import os

from detectors.encoder import Progress
from monitor.app import App
from monitor.log import configure
from monitor.scoring import Scoring
from monitor.settings import Settings, load
from tests.support.scripted_scorers import ScriptedReplies, ScriptedUsers


def scripted(_settings: Settings, _progress: Progress, _sketch_key: bytes) -> Scoring:
    return Scoring(ScriptedUsers(remember=False), ScriptedReplies(remember=False))


def main() -> None:
    settings = load(None, os.environ)
    configure(settings.log.level, settings.log.format)
    asyncio.run(App(settings, scripted).run(lambda *_: None))


if __name__ == "__main__":
    main()
