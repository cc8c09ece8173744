"""Every number by which drift is decided."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """``alpha`` bounds the chance that a comparison of two alike ever alarms, however often it is looked at.

    It is parted: a share for means of features, for features that one side lacks, for meaning, and for sentences and phrases.
    ``replies``: in each group at least, counted as independent ones; ``skewness``: and so many times the squared skewness
    (Boos & Hughes-Oliver 2000 give the order; the factor is by simulation, ``tests/benchmarks/test_style_drift.py``).
    A change matters from ``smallest`` standard deviations, or where a mean has become ``ratio`` times another.
    """

    alpha: float = 0.05
    for_means: float = 0.70
    for_presence: float = 0.10
    for_meaning: float = 0.10
    for_phrases: float = 0.10
    replies: int = 100
    conversations: int = 20
    stratum_replies: int = 10
    skewness: float = 10.0
    tuned: float = 250.0  # information at which the boundary is tightest: 500 replies against 500
    smallest: float = 0.15
    ratio: float = 1.5
    share: float = 0.05  # by which a sentence or phrase must have moved
    permutations: int = 999
