"""What phrases found in a reply, as numbers: a column each for the heads beside the reply's vector."""

from __future__ import annotations

from typing import Final

from detectors.finding import EmotionNamed, Flag, ReplySignal

_FOUND: Final = 0.5
"""Half the length of a reply's vector, so that the ridge shrinks words and meaning about alike."""
_MOST_NUMBERS: Final = 2

WIDTH: Final = 11 + len(Flag)


def features(signal: ReplySignal) -> list[float]:
    """Return ``WIDTH`` numbers: the four criteria first, in the order of ``detectors.reply.heads.NAMES``."""
    found = (
        signal.risk_recognised,
        signal.holds_feeling,
        signal.refers,
        signal.boundary,
        signal.reassures,
        signal.refusal,
        bool(signal.harm),
        signal.emotion_named is EmotionNamed.TYPE_ONLY,
        signal.emotion_named is EmotionNamed.TYPE_AND_STRENGTH,
        min(signal.numbers_known, _MOST_NUMBERS),
        min(signal.numbers_unknown, _MOST_NUMBERS),
        *(flag in signal.flags for flag in Flag),
    )
    return [_FOUND * value for value in found]
