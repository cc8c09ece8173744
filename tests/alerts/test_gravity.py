from __future__ import annotations

from itertools import pairwise

from alerts.gravity import gravity, worse, worst
from detectors.finding import CRISIS_LEVELS, Level, Outcome


def test_severity_counts_before_harm():
    ranks = sorted({level.severity for level in CRISIS_LEVELS})
    for low, high in pairwise(ranks):
        lower = max(gravity(level, Outcome.HARMFUL) for level in CRISIS_LEVELS if level.severity == low)
        higher = min(gravity(level, None) for level in CRISIS_LEVELS if level.severity == high)
        assert lower < higher


def test_everything_that_rings_has_a_gravity():
    assert all(gravity(level, outcome) > 0 for level in Level for outcome in Outcome)


def test_outcomes_stand_in_one_order():
    assert not any(worse(one, one) for one in Outcome)
    assert all(
        worse(one, other) != worse(other, one) for one in Outcome for other in Outcome if one is not other
    )
    assert worst(None, Outcome.HANDLED) is Outcome.HANDLED
    assert worst(Outcome.NO_REPLY, Outcome.UNHANDLED) is Outcome.NO_REPLY
