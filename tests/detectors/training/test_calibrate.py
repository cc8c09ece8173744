from __future__ import annotations

import numpy as np
import pytest

from detectors.crisis.calibration import load_calibration
from detectors.finding import CRISIS_LEVELS, Level
from detectors.training.calibrate import choose_thresholds, fit_line, fit_lines, write


def test_a_line_finds_the_chances_again():
    source = np.random.default_rng(1)
    logit = source.normal(0, 3, 20_000)
    truth = source.random(20_000) < 1 / (1 + np.exp(-(0.5 * logit - 1)))
    line = fit_line(logit, truth)
    assert line.slope == pytest.approx(0.5, abs=0.03)
    assert line.offset == pytest.approx(-1, abs=0.1)


def test_a_language_with_few_rows_has_no_line_of_its_own():
    logit = np.tile([-2.0, 2.0], 200)
    truth = np.tile([False, True], 200)
    lines = fit_lines(logit, truth, ["zh"] * 390 + ["ja"] * 10)
    assert set(lines) == {"zh", "other"}


def rows(seed: int = 1) -> tuple[np.ndarray, list[Level], np.ndarray]:
    source = np.random.default_rng(seed)
    truth = source.random(4000) < 0.4
    chance = np.clip(source.normal(np.where(truth, 0.75, 0.2), 0.15), 0.001, 0.999)
    level = [CRISIS_LEVELS[i] for i in source.integers(0, len(CRISIS_LEVELS), 4000)]
    return chance, level, truth


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1])
def test_thresholds_keep_false_alarms_to_the_rate(rate):
    chance, level, truth = rows()
    thresholds = choose_thresholds(chance, level, truth, rate)
    flagged = chance >= np.array([thresholds[one] for one in level])
    assert flagged[~truth].mean() <= rate
    assert flagged[truth].mean() > 0.6


def test_a_stricter_rate_never_finds_more():
    chance, level, truth = rows()

    def found(rate: float) -> float:
        thresholds = choose_thresholds(chance, level, truth, rate)
        return float((chance >= np.array([thresholds[one] for one in level]))[truth].mean())

    assert found(0.001) <= found(0.02) <= found(0.2)


def test_what_is_written_can_be_read(tmp_path):
    line = fit_line(np.array([-1.0, 1.0, -2.0, 2.0]), np.array([False, True, False, True]))
    thresholds = dict.fromkeys(CRISIS_LEVELS, 0.5) | {Level.IN_PROGRESS: 0.31}
    write(tmp_path / "c.toml", {"zh": line, "other": line}, {"other": line}, thresholds, ["zh", "en"])
    read = load_calibration(tmp_path / "c.toml")
    assert read.thresholds[Level.IN_PROGRESS] == 0.31
    assert read.alone["zh"] == line
    assert read.languages == {"zh", "en"}
    assert read.chance(0.3, "fr") == line(0.3)


def misled(rare: Level, count: int) -> tuple[np.ndarray, list[Level], np.ndarray]:
    """Rows as above of another level, and a few of ``rare`` whose innocent ones all look risky."""
    chance, level, truth = rows()
    other = Level.PASSIVE_IDEATION
    level = [other] * len(level)
    return (
        np.append(chance, np.full(count, 0.833)),
        [*level, *[rare] * count],
        np.append(truth, np.zeros(count, dtype=bool)),
    )


def test_a_level_with_few_rows_leans_on_the_common_threshold():
    few = choose_thresholds(*misled(Level.SELF_HARM, 8))
    assert abs(few[Level.SELF_HARM] - few[Level.PASSIVE_IDEATION]) < 0.1
    many = choose_thresholds(*misled(Level.SELF_HARM, 400))
    assert many[Level.SELF_HARM] > 0.833


@pytest.mark.parametrize("level", [one for one in CRISIS_LEVELS if one.imminent])
def test_where_somebody_may_act_within_minutes_no_more_is_asked_than_of_all(level):
    own = choose_thresholds(*misled(Level.SELF_HARM, 40), 0.02)[Level.SELF_HARM]
    assert choose_thresholds(*misled(level, 40), 0.02)[level] < 0.833 < own
