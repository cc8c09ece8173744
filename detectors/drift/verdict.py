"""What is said about two groups of replies: whether their style differs, in what, how much, how surely. Holds no text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from detectors.drift.feature import Feature
from detectors.drift.stratum import Stratum


class Decision(StrEnum):
    NOT_ENOUGH = "not_enough"  # nothing can be said yet, and nothing is said
    STEADY = "steady"
    DRIFTED = "drifted"


class Reason(StrEnum):
    TOO_FEW_REPLIES = "too_few_replies"
    TOO_FEW_CONVERSATIONS = "too_few_conversations"
    OTHER_MODEL = "other_model"  # the two groups' meanings were read by different encoders
    NO_COMMON_STATE = "no_common_state"  # no state of users in which both answered enough
    WITHIN_CHANCE = "within_chance"
    TOO_SMALL_TO_MATTER = "too_small_to_matter"  # surely there, and below what the policy calls a change
    FEATURE_MOVED = "feature_moved"
    PHRASE_MOVED = "phrase_moved"
    MEANING_MOVED = "meaning_moved"


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """``first`` and ``second`` are means 0-1 of either group over the strata of both; ``difference`` is first less second.

    ``low`` to ``high`` holds the true difference at all looks, for all features at once. ``effect`` is in ``deviation``, the
    standard deviation within strata. ``p`` by permutation, ``p_corrected`` over features (Holm), both for a single look; None where
    no generator was given. ``wanted``: replies that the smaller group needs in all before this feature can be judged.
    """

    feature: Feature
    reason: Reason
    first: float
    second: float
    difference: float
    low: float
    high: float
    deviation: float
    effect: float
    index: float  # population stability index
    gap: float  # Kolmogorov-Smirnov
    moved: float  # Wasserstein
    p: float | None
    p_corrected: float | None
    wanted: int

    @property
    def drifted(self) -> bool:
        return self.reason is Reason.FEATURE_MOVED


@dataclass(frozen=True, slots=True)
class PhraseDrift:
    """A sentence by its id, or a kind of phrase by its name, and the shares of replies that have it."""

    kind: str  # "sentence" or "phrase"
    name: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class MeaningDrift:
    """``distance`` and ``p`` of a sample of ``rows`` (energy distance), None where no generator was given.

    ``effect``: the largest difference among the numbers of the trace, in standard deviations.
    """

    reason: Reason
    effect: float
    distance: float | None
    p: float | None
    rows: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DriftVerdict:
    """``replies`` and ``conversations`` of the first and the second group; ``used``: replies in the ``strata`` of both.

    ``missing``: how many more replies (or conversations, by the reason) the smaller group needs.
    """

    decision: Decision
    reasons: tuple[Reason, ...]
    replies: tuple[int, int]
    conversations: tuple[int, int]
    used: tuple[int, int] = (0, 0)
    strata: tuple[Stratum, ...] = ()
    missing: int = 0
    features: tuple[FeatureDrift, ...] = ()
    phrases: tuple[PhraseDrift, ...] = ()
    meaning: MeaningDrift | None = None

    @property
    def drifted(self) -> tuple[FeatureDrift, ...]:
        """The features that moved, the largest effect first."""
        return tuple(sorted((one for one in self.features if one.drifted), key=lambda one: -abs(one.effect)))
