"""Who was answered: replies are compared among users in the same state, in the same language, and never across."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from detectors.finding import Level, UserSignal

LANGUAGES: Final = ("zh", "en", "es", "de", "fr", "other")
"""A fixed list, so that sketches of different workers keep the same strata whatever each has seen."""
_UNEASY: Final = 0.2
_DISTRESSED: Final = 0.5


class State(StrEnum):
    """Fine enough that within one the rest of a user's state moves the style little (Cochran 1968: five strata remove most)."""

    CALM = "calm"
    UNEASY = "uneasy"
    DISTRESSED = "distressed"
    PASSIVE = "passive"  # wishes, or somebody else at risk
    ACTIVE = "active"  # thoughts of suicide, self-harm, harm to others
    IMMINENT = "imminent"  # a plan, preparations, an attempt
    UNKNOWN = "unknown"  # nobody could tell whether it was a crisis


class Stratum(NamedTuple):
    state: State
    language: str


_STATES: Final = {
    Level.UNSCORED: State.UNKNOWN,
    Level.PASSIVE_IDEATION: State.PASSIVE,
    Level.OTHER_AT_RISK: State.PASSIVE,
    Level.ACTIVE_IDEATION: State.ACTIVE,
    Level.SELF_HARM: State.ACTIVE,
    Level.HARM_TO_OTHERS: State.ACTIVE,
    Level.PLAN_INTENT: State.IMMINENT,
    Level.PREPARATION: State.IMMINENT,
    Level.IN_PROGRESS: State.IMMINENT,
}
ALL: Final = tuple(Stratum(state, language) for state in State for language in LANGUAGES)
PLACE: Final = {one: place for place, one in enumerate(ALL)}
"""By these numbers strata stand in packed sketches: states and languages keep their order."""


def stratum_of(user: UserSignal | None, language: str) -> Stratum:
    """``user`` is the turn that is answered, in its context; ``language`` the reply's. None: nobody had spoken, calm."""
    return Stratum(
        State.CALM if user is None else _state(user), language if language in LANGUAGES else LANGUAGES[-1]
    )


def _state(user: UserSignal) -> State:
    if user.level is not Level.NONE:
        return _STATES[user.level]
    if user.distress < _UNEASY:
        return State.CALM
    return State.UNEASY if user.distress < _DISTRESSED else State.DISTRESSED
