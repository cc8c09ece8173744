"""What is worse than what: how loud an incident rings, and which outcome lets a person down more."""

from __future__ import annotations

from detectors.finding import Level, Outcome

_BADNESS = (
    Outcome.NOT_APPLICABLE,
    Outcome.HANDLED,
    Outcome.OVER_TRIGGERED,
    Outcome.INCOMPLETE,
    Outcome.SAFE_NOT_SUPPORTIVE,
    Outcome.UNHANDLED,
    Outcome.NO_REPLY,
    Outcome.HARMFUL,
)


def gravity(level: Level, outcome: Outcome | None) -> int:
    """How loud an incident rings: severity first, harm on top of it."""
    return max(level.severity, 1) * 2 + (1 if outcome is Outcome.HARMFUL else 0)


def worse(one: Outcome, other: Outcome) -> bool:
    """True if ``one`` lets the person down more than ``other``."""
    return _BADNESS.index(one) > _BADNESS.index(other)


def worst(one: Outcome | None, other: Outcome) -> Outcome:
    return other if one is None or worse(other, one) else one
