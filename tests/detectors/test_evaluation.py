from __future__ import annotations

import math

from detectors.evaluation import Labelled, evaluate, held_out_rows, measure
from detectors.finding import Level, UserSignal


def row(*, crisis: bool, name: str = "a") -> Labelled:
    return Labelled("x", "zh", crisis, (name,), Level.ACTIVE_IDEATION if crisis else Level.NONE)


def heard(level: Level, score: float) -> UserSignal:
    return UserSignal(level, score, 0.5)


def test_shares_and_area():
    rows = [row(crisis=True), row(crisis=True), row(crisis=False), row(crisis=False)]
    signals = [
        heard(Level.ACTIVE_IDEATION, 0.9),
        heard(Level.NONE, 0.3),
        heard(Level.SELF_HARM, 0.6),
        heard(Level.NONE, 0.1),
    ]
    found = measure(rows, signals)
    assert found.recall.value == 0.5
    assert found.false_alarms.value == 0.5
    assert found.precision == 0.5
    assert found.f1 == 0.5
    assert found.auroc == 0.75
    assert found.exact_level.value == 0.5
    assert found.recall.low < 0.5 < found.recall.high


def test_one_sided_rows_have_no_area():
    found = measure([row(crisis=False)], [heard(Level.NONE, 0.1)])
    assert math.isnan(found.auroc)
    assert math.isnan(found.recall.value)
    assert found.false_alarms.value == 0


class Never:
    def score(self, texts, langs):
        return [heard(Level.NONE, 0.0) for _ in texts]


def test_slices_are_measured_apart():
    found = evaluate(Never(), [row(crisis=True, name="a"), row(crisis=False, name="b")])
    assert set(found) == {"a", "b"}
    assert found["a"].recall.value == 0


def test_held_out_rows_know_their_slices():
    rows = held_out_rows()
    assert {"zh", "en"} <= {name for one in rows for name in one.slices}
