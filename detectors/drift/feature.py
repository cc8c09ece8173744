"""The features of a reply's style, each a share 0-1 kept in twenty levels: a histogram then holds all that was read."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

LEVELS: Final = 20
READING: Final = "1"
"""Version of what the features mean. Styles read by another one are not comparable."""


class Feature(StrEnum):
    """The order is that of packed styles and sketches: a new one goes to the end, with a new ``READING``."""

    LENGTH = "length"
    QUESTIONS = "questions"
    ADVICE = "advice"
    WARMTH = "warmth"
    VALIDATION = "validation"
    RESTATEMENT = "restatement"
    ECHO = "echo"
    FORMALITY = "formality"
    EMOJI = "emoji"
    LAYOUT = "layout"
    EXCLAMATION = "exclamation"
    OTHER_SCRIPT = "other_script"
    TEMPLATE = "template"
    EMOTION_NAMED = "emotion_named"
    REFERRAL = "referral"
    BOUNDARY = "boundary"
    PRESSURE = "pressure"


FEATURES: Final = tuple(Feature)


def level(share: float) -> int:
    """The level, 0-19, of a share. 0 is nothing at all: the least that is there is level 1."""
    if share <= 0:
        return 0
    return min(LEVELS - 1, max(1, round(share * (LEVELS - 1))))
