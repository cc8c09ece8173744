"""An engine with moods: it is well, hangs, raises, gives NaN or runs out of memory, as it is told while it runs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from detectors.finding import UserSignal
from monitor.scoring import Scoring
from tests.support.scripted_scorers import ScriptedReplies, ScriptedUsers


class Mood(StrEnum):
    WELL = "well"
    HANGS = "hangs"
    RAISES = "raises"
    NAN = "nan"
    MEMORY = "memory"


class MoodyUsers(ScriptedUsers):
    """``never`` keeps a hanging thread; a test sets it to let go."""

    def __init__(self, mood: Callable[[], Mood], never: threading.Event) -> None:
        super().__init__(remember=False)
        self._mood = mood
        self._never = never

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        found = super().score(texts, langs)
        match self._mood():
            case Mood.HANGS:
                self._never.wait()
            case Mood.RAISES:
                raise OSError("the engine is gone")
            case Mood.MEMORY:
                raise MemoryError
            case Mood.NAN:
                return [replace(signal, score=math.nan) for signal in found]
            case Mood.WELL:
                pass
        return found


def moody(mood: Callable[[], Mood], never: threading.Event | None = None) -> Scoring:
    """Loading one runs out of memory in that mood, too."""
    if mood() is Mood.MEMORY:
        raise MemoryError
    return Scoring(MoodyUsers(mood, never or threading.Event()), ScriptedReplies(remember=False))
