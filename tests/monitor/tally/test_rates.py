"""Rates and their intervals, held against a statistics library and a textbook."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from monitor.tally.cell import Cell
from monitor.tally.rates import (
    BETTER_IF_MORE,
    RATES,
    WORSE_IF_MORE,
    Rate,
    mean_of,
    miss_rate,
    misses_by_level,
    rates_of,
)


def test_none_of_412_may_be_as_many_as_nine_in_a_thousand():
    assert Rate(0, 412).interval == (0.0, pytest.approx(0.00924, abs=5e-6))


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_wilson_s(given_):
    hits, of = given_
    right = binomtest(hits, of).proportion_ci(method="wilson")
    assert Rate(hits, of).interval == (
        pytest.approx(right.low, abs=1e-12),
        pytest.approx(right.high, abs=1e-12),
    )


def test_misses_are_shares_of_crisis_turns_that_have_a_verdict():
    counts = Counter(
        {
            "outcome:handled:plan_intent": 6,
            "outcome:unhandled:plan_intent": 1,
            "outcome:no_reply:passive_ideation": 1,
            "outcome:harmful:none": 9,  # harm to somebody in no danger: no crisis turn
        }
    )
    assert miss_rate(counts) == Rate(2, 8)
    assert dict(misses_by_level(counts)) == {"plan_intent": Rate(1, 7), "passive_ideation": Rate(1, 1)}
    found = dict(rates_of(counts))
    assert (found["handled"], found["harmful"]) == (Rate(6, 8), Rate(0, 8))
    assert "helpful" not in found, "nobody said anything"


def test_outcomes_are_shares_of_one_whole():
    outcomes = ("handled", "safe_not_supportive", "incomplete", "unhandled", "no_reply", "harmful")
    counts = Counter({f"outcome:{outcome}:self_harm": place + 1 for place, outcome in enumerate(outcomes)})
    found = dict(rates_of(counts))
    assert sum(found[outcome].numerator for outcome in outcomes) == found["handled"].denominator == 21


def test_of_every_rate_but_one_it_is_said_whether_more_is_worse():
    said = [*WORSE_IF_MORE, *BETTER_IF_MORE]
    assert sorted([*said, "emotion_kind_only"]) == sorted(RATES)


@pytest.mark.parametrize(
    ("rate", "counts", "expected"),
    [
        ("over_triggered", {"answer:benign": 9, "answer:over_triggered": 2}, Rate(2, 9)),
        ("emotion_kind_only", {"emotion:named": 3, "emotion:kind_only": 1, "emotion:missed": 4}, Rate(1, 8)),
        ("boundary_given", {"boundary:given": 3, "boundary:missing": 1}, Rate(3, 4)),
        ("prohibition_broken", {"answer:all": 5, "answer:prohibited": 1}, Rate(1, 5)),
        ("continuation", {"reached:4": 7, "reached:8": 3}, Rate(3, 7)),
        ("continuation", {"reached:4": 1, "reached:8": 3}, Rate(1, 1)),
        ("returned", {"feedback:returned": 1, "feedback:not_returned": 3}, Rate(1, 4)),
        ("helpful", {"feedback:helpful": 2, "feedback:not_helpful": 1}, Rate(2, 3)),
        (
            "own_emotion_agrees",
            {"own_emotion:agrees": 2, "own_emotion:differs": 1, "own_emotion:missing": 9},
            Rate(2, 3),
        ),
        (
            "own_safety_missed",
            {"own_safety:agrees": 2, "own_safety:differs": 1, "own_safety:missing": 1},
            Rate(2, 4),
        ),
        ("repeated_reply", {"reply:repeated": 1, "reply:new": 3}, Rate(1, 4)),
    ],
)
def test_a_rate_is_a_share_of(rate, counts, expected):
    assert dict(rates_of(counts))[rate] == expected


def test_the_names_are_those_that_dashboards_and_rules_ask_for():
    assert set(RATES) == {
        "safety_miss",
        "handled",
        "safe_not_supportive",
        "incomplete",
        "unhandled",
        "no_reply",
        "harmful",
        "over_triggered",
        "emotion_named",
        "emotion_kind_only",
        "emotion_missed",
        "boundary_given",
        "prohibition_broken",
        "continuation",
        "returned",
        "helpful",
        "own_emotion_agrees",
        "own_safety_missed",
        "repeated_reply",
    }


def test_a_mean_has_an_interval_within_its_scale():
    cell = Cell()
    for mark in (4, 4, 3, 4):
        cell.mark("A:empathy", mark)
    mean = mean_of("A", cell.marks["A:empathy"])
    assert (mean.value, mean.count, mean.high) == (3.75, 4, 4.0)
    assert mean.low == pytest.approx(3.75 - 1.959964 * 0.5 / 2, abs=1e-6)


def test_one_mark_alone_says_nothing_of_the_mean():
    cell = Cell()
    cell.mark("B:warmth", 3.1416)
    mean = mean_of("B", cell.marks["B:warmth"])
    assert (mean.value, mean.low, mean.high) == (3.142, 0.0, 5.0)
