"""What is counted, by name. A name is a kind and up to two words, with colons between."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    OUTCOME = "outcome"  # of crisis turns: outcome, level
    BOUNDARY = "boundary"  # due at a crisis turn that was answered: given, missing
    ANSWER = (
        "answer"  # user turns (or runs of them) that were answered: all, benign, over_triggered, prohibited
    )
    REVIEW = "review"  # what a person said of a closed incident: true_miss, false_alarm; level
    FLAG = "flag"
    EMOTION = "emotion"  # due: named, kind_only, missed
    TURN = "turn"  # by role
    CRISIS_TURN = "crisis_turn"  # by level
    REPLY = "reply"  # new, repeated
    REACHED = "reached"  # conversations: 4, 8
    FEEDBACK = "feedback"  # helpful, not_helpful, returned, not_returned
    OWN_EMOTION = "own_emotion"  # the assistant's own label beside ours: agrees, differs, missing
    OWN_SAFETY = "own_safety"
    FIRST = "first"  # at which user turn the assistant first said that it did something: what, turn
    VOICE = "voice"
    COHORT = "cohort"


def name(kind: Kind, word: str, more: str = "") -> str:
    return f"{kind.value}:{word}:{more}" if more else f"{kind.value}:{word}"
