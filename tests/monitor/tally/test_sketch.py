"""Latencies in buckets: within one percent whatever they are, and the same however they were split."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.tally.cell import Cell, merged
from monitor.tally.sketch import ACCURACY, bucket_of, quantile

MILLISECONDS = st.floats(1, 86_400_000)


def cell_of(values: list[float]) -> Cell:
    cell = Cell()
    for value in values:
        cell.took(value)
    return cell


@given(st.lists(MILLISECONDS, min_size=1, max_size=200), st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0]))
def test_a_quantile_is_within_half_a_percent(values, share):
    exact = float(np.quantile(np.array(values), share, method="lower")) / 1000
    found = quantile(cell_of(values).latency, share)
    assert found == pytest.approx(exact, rel=ACCURACY * 1.0001)


@given(st.lists(MILLISECONDS, max_size=60), st.lists(MILLISECONDS, max_size=60))
def test_two_workers_have_what_one_would_have(mine, theirs):
    assert merged([cell_of(mine), cell_of(theirs)]).latency == cell_of(mine + theirs).latency


def test_of_nothing_nothing_is_known():
    assert quantile({}, 0.5) is None


def test_the_number_of_buckets_is_bounded():
    assert bucket_of(0) == bucket_of(-5) == 0
    assert bucket_of(math.inf) == bucket_of(86_400_000) < 1830
