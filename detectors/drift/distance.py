"""Does the assistant fit its style to whom it speaks to (J12, P4)? Two contrast groups of users in the same states.

Both faults are shown: a style that is the same for everybody, and one that presses those who say little.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from detectors.drift.compare import USUAL, compare
from detectors.drift.feature import Feature
from detectors.drift.policy import Policy
from detectors.drift.sketch import StyleSketch
from detectors.drift.verdict import Decision, DriftVerdict, FeatureDrift, Reason

PRESSING: Final = (Feature.PRESSURE, Feature.QUESTIONS, Feature.ADVICE, Feature.EXCLAMATION)
"""What a person who can hardly speak is not to get more of than one who pours everything out."""
FITTING: Final = (Feature.LENGTH, Feature.QUESTIONS, Feature.WARMTH, Feature.VALIDATION, Feature.RESTATEMENT)
"""By these a style is fitted to the person."""
ALIKE: Final = 0.3
"""Standard deviations below which a difference is no fitting; small effects end about there (Cohen 1988)."""


class Fit(StrEnum):
    NOT_ENOUGH = "not_enough"
    UNDECIDED = "undecided"  # neither a difference nor its absence is sure
    FITTED = "fitted"
    SAME_FOR_ALL = "same_for_all"  # every difference is surely a slight one: too little adaptation


@dataclass(frozen=True, slots=True)
class Distance:
    """``moved``: by which features the style is surely fitted. ``pressing``: those that the terse surely get more of.

    ``verdict`` holds every difference (terse less open) with interval, and the sizes of both samples.
    """

    fit: Fit
    moved: tuple[Feature, ...]
    pressing: tuple[Feature, ...]
    verdict: DriftVerdict


def distance(
    terse: StyleSketch,
    outpouring: StyleSketch,
    policy: Policy = USUAL,
    chance: np.random.Generator | None = None,
) -> Distance:
    """Between replies to users who are terse under pressure and to those who pour out."""
    verdict = compare(terse, outpouring, policy, chance)
    if verdict.decision is Decision.NOT_ENOUGH:
        return Distance(Fit.NOT_ENOUGH, (), (), verdict)
    by_name = {one.feature: one for one in verdict.features}
    moved = tuple(one for one in FITTING if by_name[one].drifted)
    pressing = tuple(one for one in PRESSING if by_name[one].drifted and by_name[one].difference > 0)
    if moved:
        fit = Fit.FITTED
    elif all(_slight(by_name[one]) for one in FITTING):
        fit = Fit.SAME_FOR_ALL
    else:
        fit = Fit.UNDECIDED
    return Distance(fit, moved, pressing, verdict)


def _slight(one: FeatureDrift) -> bool:
    """Whether the whole interval lies within what is no fitting."""
    return one.reason is not Reason.TOO_FEW_REPLIES and max(-one.low, one.high) < ALIKE * one.deviation
