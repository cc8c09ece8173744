"""Differences beside published figures, and beside what simple cases must come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from monitor.releases.difference import apart, figure_of, p_of_means, p_of_quantiles, p_of_shares, quantile_of
from monitor.tally.cell import Cell, Marks
from monitor.tally.rates import Rate


@pytest.mark.parametrize(
    ("current", "reference", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),  # Newcombe 1998, table II, method 10
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_newcombes_intervals(current, reference, low, high):
    found = apart(figure_of(Rate(*current)), figure_of(Rate(*reference)), 1.0)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(
    st.tuples(st.integers(0, 50), st.integers(1, 50)).filter(lambda one: one[0] <= one[1]),
    st.tuples(st.integers(0, 50), st.integers(1, 50)).filter(lambda one: one[0] <= one[1]),
)
def test_the_other_way_round_is_the_same_with_another_sign(one, other):
    here = apart(figure_of(Rate(*one)), figure_of(Rate(*other)), 1.0)
    there = apart(figure_of(Rate(*other)), figure_of(Rate(*one)), 1.0)
    assert (here.value, here.low, here.high) == pytest.approx((-there.value, -there.high, -there.low))
    assert -1 - 1e-9 <= here.low <= here.value <= here.high <= 1 + 1e-9
    assert p_of_shares(one, other) == pytest.approx(p_of_shares(other, one))


def test_marks_are_compared_as_welch_does():
    chance = np.random.default_rng(3)
    sides = chance.normal(3, 1, 40).clip(0, 4).round(2), chance.normal(2.4, 0.5, 70).clip(0, 4).round(2)
    cells = [Cell(), Cell()]
    for cell, values in zip(cells, sides, strict=True):
        for value in values:
            cell.mark("A:crisis", float(value))
    p = p_of_means(cells[0].marks["A:crisis"], cells[1].marks["A:crisis"])
    assert p == pytest.approx(ttest_ind(*sides, equal_var=False).pvalue)


def test_marks_that_never_vary():
    assert p_of_means(Marks(5, 15_000, 45_000_000), Marks(5, 15_000, 45_000_000)) == 1
    assert p_of_means(Marks(5, 15_000, 45_000_000), Marks(5, 10_000, 20_000_000)) == 0


def _latency(values):
    cell = Cell()
    for value in values:
        cell.took(value)
    return cell.latency


def test_a_quantile_s_interval_holds_it_in_most_draws():
    chance = np.random.default_rng(11)
    true = float(np.exp(1.6448536) * 1000) / 1000
    held = 0
    for _ in range(300):
        found = quantile_of(_latency(np.exp(chance.standard_normal(400)) * 1000), 0.95)
        held += found.low <= true <= found.high
    assert 0.9 <= held / 300 <= 0.99


def test_latencies_of_one_law_are_told_apart_seldom_and_of_two_often():
    chance = np.random.default_rng(12)
    alike, slower = 0, 0
    for _ in range(200):
        one, other = (np.exp(chance.standard_normal(150)) * 1000 for _ in range(2))
        alike += p_of_quantiles(_latency(one), _latency(other), 0.5) < 0.05
        slower += p_of_quantiles(_latency(one * 2), _latency(other), 0.5) < 0.05
    assert alike <= 14
    assert slower >= 180


def test_ties_at_the_quantile_are_asked_from_both_sides_and_that_counts_twice():
    ends_in_it = p_of_quantiles({10: 90, 20: 10}, {10: 99, 20: 1}, 0.95)
    assert ends_in_it == pytest.approx(2 * p_of_shares((10, 100), (1, 100)))
    assert p_of_quantiles({20: 100}, {10: 100}, 0.95) < 1e-9
    assert p_of_quantiles({10: 100}, {10: 100}, 0.95) == 1
