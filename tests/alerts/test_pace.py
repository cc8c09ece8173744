"""A pace keeps its limit in every span, and lets through what it may."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.pace import MINUTE, Pace
from tests.support.fake_clock import EPOCH


def let_through(pace: Pace, seconds: list[float]) -> list[float]:
    full_at, through = None, []
    for second in sorted(seconds):
        now = EPOCH + timedelta(seconds=second)
        if pace.free_at(full_at, now) <= now:
            full_at = pace.taken(full_at, now)
            through.append(second)
    return through


@given(
    st.integers(1, 20),
    st.integers(1, 30),
    st.lists(st.floats(0, 600, allow_nan=False), max_size=200),
    st.floats(0, 600),
    st.integers(1, 120),
)
def test_no_span_sees_more_than_burst_and_refill(burst, interval, seconds, start, span):
    pace = Pace(burst, timedelta(seconds=interval))
    seen = [one for one in let_through(pace, seconds) if start <= one < start + span]
    assert len(seen) <= burst + span / interval + 1


@pytest.mark.parametrize("a_minute", [1, 2, 5, 10, 25, 99, 1_000_000])
def test_a_share_is_kept_in_any_minute(a_minute):
    pace = Pace.share(a_minute)
    assert pace.burst + MINUTE / pace.interval <= max(a_minute, 2)


def test_what_waits_is_told_until_when():
    pace = Pace(2, timedelta(seconds=10))
    full_at = pace.taken(pace.taken(None, EPOCH), EPOCH)
    free_at = pace.free_at(full_at, EPOCH)
    assert free_at == EPOCH + timedelta(seconds=10)
    assert pace.free_at(full_at, free_at) == free_at


def test_rest_fills_it_up_again_and_no_further():
    pace = Pace(3, timedelta(seconds=1))
    full_at = pace.taken(None, EPOCH)
    later = EPOCH + timedelta(hours=1)
    assert let_through(pace, [0.0] * 10) == [0.0] * 3
    assert pace.free_at(full_at, later) == later
