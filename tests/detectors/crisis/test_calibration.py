from __future__ import annotations

import numpy as np
import pytest

from detectors.crisis.calibration import Calibration, Line, load_calibration, strength
from detectors.finding import CRISIS_LEVELS, Level

LINE = {"other": Line(1.0, 0.0), "zh": Line(2.0, 1.0)}
CALIBRATION = Calibration(
    LINE,
    LINE,
    dict.fromkeys(CRISIS_LEVELS, 0.5) | {Level.PLAN_INTENT: 0.3},
    0.9,
    frozenset({"zh", "en"}),
)


def levels(likeliest: Level) -> np.ndarray:
    out = np.zeros(1 + len(CRISIS_LEVELS), dtype=np.float32)
    out[0] = 9.0  # "none" is decided by the chance alone
    out[1 + CRISIS_LEVELS.index(likeliest)] = 3.0
    return out


def test_each_level_has_its_own_threshold():
    assert CALIBRATION.decide(0.4, levels(Level.PLAN_INTENT), "zh") is Level.PLAN_INTENT
    assert CALIBRATION.decide(0.4, levels(Level.SELF_HARM), "zh") is Level.NONE


@pytest.mark.parametrize("language", ["xx", "und"])
def test_an_untrained_language_is_unscored_and_never_safe(language):
    assert CALIBRATION.decide(0.01, levels(Level.SELF_HARM), language) is Level.UNSCORED
    assert CALIBRATION.decide(0.8, levels(Level.SELF_HARM), language) is Level.UNSCORED
    assert CALIBRATION.decide(0.95, levels(Level.SELF_HARM), language) is Level.SELF_HARM


def test_what_has_no_words_is_judged():
    assert CALIBRATION.decide(0.01, levels(Level.SELF_HARM), "zxx") is Level.NONE


def test_a_line_of_the_language_is_taken():
    assert CALIBRATION.chance(0.0, "zh") == pytest.approx(0.731, abs=0.001)
    assert CALIBRATION.chance(0.0, "pt") == 0.5
    assert CALIBRATION.chance(1e9, "zh") <= 1.0


def test_a_level_without_threshold_is_named(tmp_path):
    whole = """languages = ["zh"]
[chance.alone]
other = [1.0, 0.0]
[chance.context]
other = [1.0, 0.0]
[thresholds]
untrained = 0.9
"""
    (tmp_path / "c.toml").write_text(whole)
    with pytest.raises(ValueError, match="passive_ideation"):
        load_calibration(tmp_path / "c.toml")


def test_the_shipped_thresholds_are_within_reason():
    shipped = load_calibration()
    assert {"zh", "en", "ja", "ko", "es", "pt", "fr", "de"} <= shipped.languages
    assert all(0.1 <= threshold <= 0.95 for threshold in shipped.thresholds.values())


def test_strength_is_the_mean_of_two_heads():
    even = np.zeros(1 + len(CRISIS_LEVELS), dtype=np.float32)
    odds = np.log(len(CRISIS_LEVELS))  # of any crisis level against none, when all are equal
    assert strength(2.0, even) == pytest.approx((2.0 + odds) / 2)
    even[0] = 5.0
    assert strength(2.0, even) == pytest.approx((2.0 + odds - 5.0) / 2)


def test_strength_bears_any_size():
    huge = np.full(1 + len(CRISIS_LEVELS), 1e4, dtype=np.float32)
    assert np.isfinite(strength(-1e4, huge))
