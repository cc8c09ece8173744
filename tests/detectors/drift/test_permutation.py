from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from detectors.drift.feature import LEVELS
from detectors.drift.permutation import energy, holm, permuted_p


def counts(*levels):
    return np.array([np.bincount(each, minlength=LEVELS) for each in levels])


def test_by_drawing_as_by_trying_every_permutation():
    one, other = [0, 5, 9, 3], [1, 2, 0, 0, 1]
    every = one + other
    gaps = [
        abs(sum(every[at] for at in side) / 4 - (sum(every) - sum(every[at] for at in side)) / 5)
        for side in combinations(range(9), 4)
    ]
    exact = np.mean(np.array(gaps) >= abs(np.mean(one) - np.mean(other)) - 1e-9)
    drawn = permuted_p(counts(one), counts(other), np.ones(1), 1.0, 20_000, np.random.default_rng(1))
    assert drawn == pytest.approx(exact, abs=0.01)


def test_a_stratum_that_differs_in_both_groups_says_nothing():
    """All of the difference between the groups is that one has more of the second stratum."""
    one, other = counts([2] * 50, [15] * 150), counts([2] * 150, [15] * 50)
    assert permuted_p(one, other, np.full(2, 0.5), 1.0, 500, np.random.default_rng(2)) == 1.0


def test_replies_that_are_alike_count_for_fewer():
    chance = np.random.default_rng(3)
    one, other = counts(chance.integers(0, 12, 80)), counts(chance.integers(2, 14, 80))
    alone = permuted_p(one, other, np.ones(1), 1.0, 2_000, np.random.default_rng(4))
    alike = permuted_p(one, other, np.ones(1), 6.0, 2_000, np.random.default_rng(4))
    assert alone < 0.02 < alike


def test_p_values_of_two_alike_are_level():
    chance = np.random.default_rng(5)
    found = [
        permuted_p(
            counts(chance.integers(0, 20, 60)),
            counts(chance.integers(0, 20, 90)),
            np.ones(1),
            1.0,
            199,
            chance,
        )
        for _ in range(200)
    ]
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_holm():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1.0, 1.0])


def test_energy_tells_a_spread_that_no_mean_tells():
    chance = np.random.default_rng(6)
    narrow, wide = chance.normal(0, 1, (64, 6)), chance.normal(0, 3, (64, 6))
    distance, p = energy([narrow], [wide], 199, chance)
    assert distance > 0
    assert p == pytest.approx(1 / 200)


def test_energy_is_as_by_its_definition():
    chance = np.random.default_rng(7)
    one, other = chance.normal(size=(5, 3)), chance.normal(1, 1, (7, 3))

    def mean(first, second):
        return np.mean(
            [
                np.linalg.norm(a - b)
                for i, a in enumerate(first)
                for j, b in enumerate(second)
                if first is not second or i != j
            ]
        )

    expected = 2 * mean(one, other) - mean(one, one) - mean(other, other)
    assert energy([one], [other], 9, chance)[0] == pytest.approx(expected)


def test_energy_of_two_alike_is_level_over_strata():
    chance = np.random.default_rng(8)
    found = [
        energy(
            [chance.normal(0, 1, (12, 4)), chance.normal(5, 1, (30, 4))],
            [chance.normal(0, 1, (30, 4)), chance.normal(5, 1, (8, 4))],
            99,
            chance,
        )[1]
        for _ in range(150)
    ]
    assert stats.kstest(found, "uniform").pvalue > 0.001


def test_energy_of_nothing_says_nothing():
    assert energy([np.zeros((1, 3))], [np.zeros((9, 3))], 9, np.random.default_rng(0)) == (0.0, 1.0)
