"""An engine with moods: it is well, hangs, raises, gives NaN or runs out of memory, as it is told while it runs."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from detectors.finding import ReplySignal, UserSignal
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
        if _suffer(self._mood(), self._never):
            return [replace(signal, score=math.nan) for signal in found]
        return found


class MoodyReplies(ScriptedReplies):
    """They are judged with the same engine's vectors."""

    def __init__(self, mood: Callable[[], Mood], never: threading.Event) -> None:
        super().__init__(remember=False)
        self._mood = mood
        self._never = never

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        if _suffer(self._mood(), self._never):
            raise ValueError("the engine gave rows that are not finite")
        return super().score(texts, langs, regions)


def _suffer(mood: Mood, never: threading.Event) -> bool:
    """True where nonsense is to be given instead."""
    match mood:
        case Mood.HANGS:
            never.wait()
        case Mood.RAISES:
            raise OSError("the engine is gone")
        case Mood.MEMORY:
            raise MemoryError
        case Mood.NAN:
            return True
        case Mood.WELL:
            pass
    return False


def moody(mood: Callable[[], Mood], never: threading.Event | None = None) -> Scoring:
    """Loading one runs out of memory in that mood, too."""
    if mood() is Mood.MEMORY:
        raise MemoryError
    never = never or threading.Event()
    return Scoring(MoodyUsers(mood, never), MoodyReplies(mood, never))
