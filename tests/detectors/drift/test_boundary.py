from __future__ import annotations

import numpy as np
import pytest

from detectors.drift.boundary import boundary
from detectors.drift.rare import log_evidence


def test_a_fair_walk_seldom_ever_crosses():
    """Looked at after each of 4,000 steps."""
    chance = np.random.default_rng(1)
    time = np.arange(1, 4_001, dtype=float)
    bound = boundary(time, 0.05, 250)
    walks = np.cumsum(chance.standard_normal((400, 4_000)), axis=1) / np.sqrt(time)
    crossed = (np.abs(walks) > bound).any(axis=1).mean()
    assert 0.005 < crossed <= 0.05
    assert (np.abs(walks) > 1.96).any(
        axis=1
    ).mean() > 0.3  # what looking at a fixed-sample interval each time does


def test_it_is_tightest_where_it_is_tuned():
    def least(tuned):
        # in the units of the sum: the boundary of the mean is tight where it is tuned beside those tuned elsewhere
        return [float(boundary(np.array([time]), 0.05, tuned)[0]) for time in (25.0, 250.0, 2_500.0)]

    early, middle, late = least(25), least(250), least(2_500)
    assert early[0] < middle[0] < late[0]
    assert middle[1] < min(early[1], late[1])
    assert late[2] < min(early[2], middle[2])


@pytest.mark.parametrize("alpha", [0.0, 1.0, np.array([0.01, 0.0])])
def test_alpha_is_a_probability(alpha):
    with pytest.raises(ValueError, match="alpha"):
        boundary(np.ones(2), alpha, 250)


@pytest.mark.parametrize("share", [0.001, 0.02, 0.3])
def test_two_shares_that_are_one_seldom_ever_show(share):
    """Looked at after each of 2,000 replies; the other side has ten times as many."""
    chance = np.random.default_rng(2)
    ends = np.arange(1, 2_001)
    alarms = 0
    for _ in range(200):
        one = np.cumsum(chance.random(2_000) < share)
        other = np.cumsum(chance.random(20_000) < share)[10 * ends - 1]
        alarms += (log_evidence(one, ends, other, 10 * ends) > np.log(20)).any()
    assert alarms <= 10


def test_what_one_side_lacks_shows_soon():
    assert log_evidence(np.array(150.0), np.array(500.0), np.array(0.0), np.array(50_000.0)) > 100
    assert log_evidence(np.array(0.0), np.array(8.0), np.array(0.0), np.array(50_000.0)) < 1


@pytest.mark.parametrize(("of", "ratio"), [(1, 1.0), (2, 0.375**2 * 16)])
def test_evidence_is_the_ratio_that_can_be_worked_out_by_hand(of, ratio):
    """All of one side and none of the other: mixtures 1/2 and 3/8 a side, best single share one half."""
    whole = np.array(float(of))
    assert log_evidence(whole, whole, np.zeros(()), whole) == pytest.approx(np.log(ratio))
