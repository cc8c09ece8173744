"""Every number by which drift is decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from detectors.drift.boundary import Floats
from detectors.drift.feature import FEATURES, Feature


@dataclass(frozen=True, slots=True)
class Policy:
    """``alpha`` bounds the chance that a comparison of two alike ever alarms, however often it is looked at.

    It is parted: a share for means of features, for features that one side lacks, for meaning, and for sentences and phrases.
    Of the first the ``foremost`` features, by which a worse release shows first, have ``for_foremost`` among them.
    ``replies``: in each group at least, counted as independent ones; ``skewness``: and so many times the squared skewness
    (Boos & Hughes-Oliver 2000 give the order; the factor is by simulation, ``tests/benchmarks/test_style_drift.py``).
    A change matters from ``smallest`` standard deviations, or where a mean has become ``ratio`` times another.
    """

    alpha: float = 0.05
    for_means: float = 0.75
    for_presence: float = 0.05
    for_meaning: float = 0.10
    for_phrases: float = 0.10
    foremost: tuple[Feature, ...] = (
        Feature.QUESTIONS,
        Feature.ADVICE,
        Feature.VALIDATION,
        Feature.TEMPLATE,
    )
    for_foremost: float = 0.6
    replies: int = 100
    conversations: int = 20
    stratum_replies: int = 10
    skewness: float = 10.0
    tuned: float = 250.0  # information at which the boundary is tightest: 500 replies against 500
    smallest: float = 0.15
    ratio: float = 1.5
    share: float = 0.05  # by which a sentence or phrase must have moved
    permutations: int = 999

    def of_means(self) -> Floats:
        """The part of alpha of each feature's mean, in the order of ``FEATURES``."""
        whole = self.alpha * self.for_means
        rest = len(FEATURES) - len(self.foremost)
        return np.array(
            [
                whole * self.for_foremost / len(self.foremost)
                if one in self.foremost
                else whole * (1 - self.for_foremost) / rest
                for one in FEATURES
            ]
        )
