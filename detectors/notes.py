"""What an app notes beside a turn, as far as we count it: a few words each, whatever it wrote. No text, no name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from detectors.finding import Emotion


class Own(StrEnum):
    """What the assistant says that it did: it chose a strategy, took its safety path, answered from a knowledge base (J14)."""

    STRATEGY = "strategy"
    SAFETY = "safety"
    KNOWLEDGE = "knowledge"


class Cohort(StrEnum):
    """How a user expresses themself (F2, P4)."""

    TERSE = "terse"
    OPEN = "open"
    OTHER = "other"


class Voice(StrEnum):
    """Tone of a spoken turn (F3), as the app heard it."""

    CALM = "calm"
    TENSE = "tense"
    FLAT = "flat"
    TEARFUL = "tearful"
    AGITATED = "agitated"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Notes:
    """``labelled``: the assistant says something of its reply at all. ``emotions`` are those it saw in the user, by our names.

    ``emotion`` tells that it named one, ours or not. ``safety``: its safety path was taken or not; None where it does not say.
    ``helpful`` and ``returned`` are what is known after the session (F1).
    """

    labelled: bool = False
    emotion: bool = False
    emotions: tuple[Emotion, ...] = ()
    strategy: bool = False
    safety: bool | None = None
    knowledge: bool | None = None
    helpful: bool | None = None
    returned: bool | None = None
    cohort: Cohort | None = None
    voice: Voice | None = None

    @property
    def fired(self) -> tuple[Own, ...]:
        """What it says that it did."""
        said = {
            Own.STRATEGY: self.strategy,
            Own.SAFETY: self.safety is True,
            Own.KNOWLEDGE: self.knowledge is True,
        }
        return tuple(own for own, done in said.items() if done)


NOTHING = Notes()
