from __future__ import annotations

from collections.abc import Callable

import pytest

from detectors.finding import Cue, Emotion, Level, UserSignal
from detectors.reply.scorer import PatternReplyScorer
from detectors.scales.answer import Answer, answers
from detectors.text.gist import gist


@pytest.fixture(scope="session")
def talk() -> Callable[..., list[Answer]]:
    """Answers of a conversation told as (what a user said, how it was meant, what the assistant said)."""
    scorer = PatternReplyScorer()

    def told(*said: tuple[UserSignal, str], lang: str = "zh") -> list[Answer]:
        turns = []
        for user, reply in said:
            turns += [user, *scorer.score([reply], [lang], [None])]
        return answers(turns)

    return told


def user(
    text: str,
    level: Level = Level.NONE,
    *,
    distress: float = 0.6,
    emotions: tuple[Emotion, ...] = (Emotion.LOW_MOOD,),
    cues: tuple[Cue, ...] = (),
) -> UserSignal:
    return UserSignal(level, 0.9, distress, emotions, cues, gist=gist(text))
