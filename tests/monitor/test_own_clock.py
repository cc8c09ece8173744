"""How far the clocks of a partition are behind ours, and when what they say was said."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.own_clock import SPAN, OwnClock
from tests.support.builders import at

OFF = timedelta(hours=2)
LAG = timedelta(seconds=30)


def heard(*ages: timedelta, every: timedelta = timedelta(seconds=1)) -> OwnClock:
    clock = OwnClock()
    for number, age in enumerate(ages):
        clock.heard(age, at(0) + number * every)
    return clock


def test_what_they_were_behind_while_nothing_waited_is_added_while_something_does():
    assert heard(OFF, OFF + LAG).by_ours(at(100) - OFF - LAG, at(100)) == at(100) - LAG


@pytest.mark.parametrize("ages", [(), (timedelta(seconds=3),), (OFF, timedelta(0), OFF)])
def test_one_right_clock_among_them_is_believed(ages):
    assert heard(*ages).by_ours(at(100) - OFF, at(100)) == at(100) - OFF


def test_who_is_younger_than_all_were_has_a_better_clock():
    assert heard(OFF).by_ours(at(70), at(100)) == at(70)


def test_a_right_clock_that_has_fallen_silent_counts_for_a_while():
    ages = (timedelta(0), OFF, OFF)
    assert heard(*ages[:2], every=SPAN).by_ours(at(0), at(0) + OFF) == at(0)
    assert heard(*ages, every=SPAN).by_ours(at(0), at(0) + OFF) == at(0) + OFF
