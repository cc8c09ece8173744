from __future__ import annotations

import math

import numpy as np
import pytest

from detectors.evaluation.metrics import auroc, calibration_error, measure, pairs_right, recall_at, share
from detectors.evaluation.rows import Judged, Row, by_slice
from detectors.finding import Level, UserSignal
from detectors.training.example import Said
from detectors.turn import Role


def judged(
    truth: Level | None, found: Level, score: float, *, family: str = "f", name: str = "own"
) -> Judged:
    crisis = truth.crisis if truth is not None else None
    row = Row((Said(Role.USER, "x"),), "zh", crisis, (name,), truth, 2, family)
    return Judged(row, UserSignal(found, score, 0.5))


def test_shares_and_area():
    found = measure(
        [
            judged(Level.ACTIVE_IDEATION, Level.ACTIVE_IDEATION, 0.9),
            judged(Level.ACTIVE_IDEATION, Level.NONE, 0.3),
            judged(Level.NONE, Level.SELF_HARM, 0.6),
            judged(Level.NONE, Level.NONE, 0.1),
        ]
    )
    assert found.recall.value == 0.5
    assert found.false_alarms.value == 0.5
    assert found.precision == found.f1 == 0.5
    assert found.auroc.value == 0.75
    assert found.exact_level.value == 0.5
    assert found.recall.low < 0.5 < found.recall.high
    assert found.distress_error == 0


def test_one_sided_rows_have_no_area():
    found = measure([judged(Level.NONE, Level.NONE, 0.1)])
    assert math.isnan(found.auroc.value)
    assert math.isnan(found.recall.value)
    assert found.false_alarms.value == 0


def test_rows_of_unknown_truth_count_nowhere():
    found = measure([judged(None, Level.SELF_HARM, 0.9), judged(Level.NONE, Level.NONE, 0.1)])
    assert found.rows == 1
    assert found.false_alarms.of == 1


@pytest.mark.parametrize(
    ("truth", "found", "near"),
    [
        (Level.PASSIVE_IDEATION, Level.ACTIVE_IDEATION, True),
        (Level.PASSIVE_IDEATION, Level.PLAN_INTENT, False),
        (Level.PREPARATION, Level.IN_PROGRESS, True),
        (Level.OTHER_AT_RISK, Level.SELF_HARM, False),
        (Level.HARM_TO_OTHERS, Level.HARM_TO_OTHERS, True),
        (Level.PASSIVE_IDEATION, Level.NONE, False),
    ],
)
def test_one_step_on_the_ladder(truth, found, near):
    assert measure([judged(truth, found, 0.7)]).within_one.value == near


def test_a_pair_is_right_only_with_both_members():
    rows = [
        judged(Level.SELF_HARM, Level.SELF_HARM, 0.9, family="a"),
        judged(Level.NONE, Level.NONE, 0.1, family="a"),
        judged(Level.SELF_HARM, Level.NONE, 0.2, family="b"),
        judged(Level.NONE, Level.NONE, 0.1, family="b"),
        judged(Level.NONE, Level.NONE, 0.1, family="alone"),
    ]
    assert pairs_right(rows).value == 0.5
    assert pairs_right(rows).of == 2


def family(name, risky, safe):
    """``risky`` and ``safe``: of each row, whether it was called a crisis."""
    return [
        *(judged(Level.SELF_HARM, Level.SELF_HARM if one else Level.NONE, 0.5, family=name) for one in risky),
        *(judged(Level.NONE, Level.SELF_HARM if one else Level.NONE, 0.5, family=name) for one in safe),
    ]


def test_the_interval_of_pairs_knows_that_they_share_rows():
    """Nine pairs of a family that are right or wrong by one row are not nine: 95 % intervals hold the truth in 95 of 100 sets."""
    right, held, sets = 0.8, 0, 200
    chance = np.random.default_rng(1)
    for _ in range(sets):
        called = chance.random((60, 6)) < np.repeat([right, 1 - right], 3)
        rows = [one for name, each in enumerate(called) for one in family(str(name), each[:3], each[3:])]
        found = pairs_right(rows)
        held += found.low <= right**2 <= found.high
    assert 0.91 <= held / sets <= 0.98


def test_pairs_that_are_all_right_or_all_wrong_are_as_sure_as_their_families_are_many():
    sure = pairs_right([one for name in "abcdefghij" for one in family(name, [True] * 3, [False] * 3)])
    assert (sure.value, sure.of, sure.low) == (1.0, 90, share(10, 10).low)
    none = pairs_right([one for name in "abcdefghij" for one in family(name, [False] * 3, [False] * 3)])
    assert (none.value, none.of, none.high) == (0.0, 90, share(0, 10).high)


def test_without_a_pair_there_is_no_share_of_pairs():
    found = pairs_right(family("alone", [True], []))
    assert math.isnan(found.value)
    assert found.of == 0


def test_wilson_interval_of_nothing_found():
    # Wilson 1927; the textbook's 0 of 412 has an upper bound of 0.9 %
    assert share(0, 412).high == pytest.approx(0.0092, abs=0.0002)


def test_calibration_error_sees_overconfidence():
    truth = np.array([True, False] * 500)
    assert calibration_error(truth, np.full(1000, 0.5)) < 0.06
    assert calibration_error(truth, np.full(1000, 0.95)) == pytest.approx(0.45, abs=0.02)


def test_recall_where_false_alarms_are_bounded():
    truth = np.array([True] * 4 + [False] * 100)
    score = np.concatenate([[0.9, 0.8, 0.5, 0.1], np.linspace(0, 0.6, 100)])
    assert recall_at(truth, score, 0.05) == 0.5
    assert auroc(truth, score) == pytest.approx(0.75, abs=0.06)


def test_a_row_counts_in_each_of_its_slices():
    one = judged(Level.NONE, Level.NONE, 0.1)
    two = Judged(Row(one.row.turns, "zh", False, ("own", "own/zh")), one.signal)
    assert {name: len(rows) for name, rows in by_slice([one, two]).items()} == {"own": 2, "own/zh": 1}
