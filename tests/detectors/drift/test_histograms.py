from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from detectors.drift.feature import LEVELS
from detectors.drift.histograms import kolmogorov_smirnov, stability_index, wasserstein

COUNTS = st.lists(st.integers(0, 50), min_size=LEVELS, max_size=LEVELS).filter(any).map(np.array)
SHARES = np.arange(LEVELS) / (LEVELS - 1)


@given(COUNTS, COUNTS)
def test_as_scipy_has_them(one, other):
    first, second = one / one.sum(), other / other.sum()
    assert wasserstein(first, second) == pytest.approx(
        stats.wasserstein_distance(SHARES, SHARES, one, other), abs=1e-9
    )
    gap = stats.ks_2samp(np.repeat(SHARES, one), np.repeat(SHARES, other), method="asymp").statistic
    assert kolmogorov_smirnov(first, second) == pytest.approx(gap, abs=1e-9)
    index = stability_index(first, second)
    assert index >= 0
    assert index == pytest.approx(stability_index(second, first))


def test_two_alike_do_not_differ():
    one = np.full(LEVELS, 1 / LEVELS)
    assert stability_index(one, one) == kolmogorov_smirnov(one, one) == wasserstein(one, one) == 0


def test_index_of_a_share_that_doubled():
    one, other = np.zeros(LEVELS), np.zeros(LEVELS)
    one[:2], other[:2] = (0.8, 0.2), (0.6, 0.4)
    assert stability_index(one, other) == pytest.approx(0.2 * np.log(0.8 / 0.6) + 0.2 * np.log(2.0), abs=1e-9)
