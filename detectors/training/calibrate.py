"""Chances that mean what they say, and thresholds that keep false alarms to a stated rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from detectors.crisis.calibration import Line
from detectors.finding import CRISIS_LEVELS, Level

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
FALSE_ALARMS: Final = 0.08
"""Of rows written to be mistaken; ordinary turns of counselling talks are flagged far less. At .05 plain sentences such
as "I can't go on" are no longer caught, at .02 two in five of the crises among these rows are missed."""
_ENOUGH: Final = 150  # rows of a language for a line of its own
_BOUNDS: Final = (0.15, 0.9)  # of a threshold: a level seen rarely must not end at either end
_OTHERS: Final = "other"
_COMMON: Final = 150  # rows of all levels that count with those of each: a rare level's own few say little


def fit_line(logit: Floats, truth: Truths) -> Line:
    """Platt's line with his smoothed targets (1999)."""
    if not len(logit):
        return Line(1.0, 0.0)
    risky, safe = int(truth.sum()), int((~truth).sum())
    target = np.where(truth, (risky + 1) / (risky + 2), 1 / (safe + 2))

    def cost(line: Floats) -> float:
        z = line[0] * logit + line[1]
        return float(np.mean(np.logaddexp(0, z) - target * z))

    found = minimize(cost, np.array([1.0, 0.0]), method="L-BFGS-B", bounds=[(0.05, 5.0), (-8.0, 8.0)])
    return Line(round(float(found.x[0]), 4), round(float(found.x[1]), 4))


def fit_lines(logit: Floats, truth: Truths, langs: Sequence[str]) -> dict[str, Line]:
    """A line for each language with enough rows, and one over everything for the others."""
    names = np.array(langs)
    lines = {_OTHERS: fit_line(logit, truth)}
    for lang in sorted(set(langs)):
        rows = names == lang
        if rows.sum() >= _ENOUGH and truth[rows].any() and not truth[rows].all():
            lines[lang] = fit_line(logit[rows], truth[rows])
    return lines


def choose_thresholds(
    chance: Floats, level: Sequence[Level], truth: Truths, false_alarms: float = FALSE_ALARMS
) -> dict[Level, float]:
    """For each level found, the threshold that together miss least at this share of flagged harmless rows.

    ``level`` is the likeliest crisis level of each row. A price on a false alarm is raised until the share is kept.
    """
    low, high = 0.0, 200.0
    for _ in range(40):
        price = (low + high) / 2
        thresholds = _at_price(chance, level, truth, price)
        if _rate(chance, level, truth, thresholds) > false_alarms:
            low = price
        else:
            high = price
    return _at_price(chance, level, truth, high)


def _at_price(chance: Floats, level: Sequence[Level], truth: Truths, price: float) -> dict[Level, float]:
    grid = np.linspace(*_BOUNDS, 76)

    def gain(rows: Truths) -> Floats:
        """What each threshold of the grid catches less what its false alarms cost."""
        caught, alarms = (
            np.array([float((chance[rows & side] >= t).sum()) for t in grid]) for side in (truth, ~truth)
        )
        return np.asarray(caught - price * alarms)

    common = gain(np.ones(len(truth), dtype=np.bool_)) * min(1.0, _COMMON / max(1, len(truth)))

    def best(whole: Floats) -> float:
        """Of equally good thresholds the middle one: neither side's nearest row decides."""
        equal = np.flatnonzero(np.isclose(whole, whole.max()))
        return round(float(grid[equal[len(equal) // 2]]), 2)

    out = {}
    for one in CRISIS_LEVELS:
        own = best(gain(np.array([found is one for found in level], dtype=np.bool_)) + common)
        # where somebody may act within minutes, never more is asked than for crises as a whole
        out[one] = min(own, best(common)) if one.imminent else own
    return out


def _rate(chance: Floats, level: Sequence[Level], truth: Truths, thresholds: Mapping[Level, float]) -> float:
    least = np.array([thresholds[one] for one in level])
    return float((chance[~truth] >= least[~truth]).mean())


def write(
    file: Path,
    alone: Mapping[str, Line],
    context: Mapping[str, Line],
    thresholds: Mapping[Level, float],
    languages: Sequence[str],
    untrained: float = 0.9,
) -> None:
    """The readable file: a clinician may turn the thresholds."""
    lines = [
        "# How a score of the trained model becomes a chance, and from which chance a turn is a crisis turn.",
        "# Written by `jiezhu train`; the thresholds may be turned by hand, the lines belong to the weights.",
        "",
        f"languages = [{', '.join(repr(one).replace(chr(39), chr(34)) for one in sorted(languages))}]",
        "",
        "# chance = sigmoid(slope * strength + offset), by language: [slope, offset]",
        "[chance.alone]",
        *(f"{lang} = [{line.slope}, {line.offset}]" for lang, line in sorted(alone.items())),
        "",
        "# the same for a turn that has others before it",
        "[chance.context]",
        *(f"{lang} = [{line.slope}, {line.offset}]" for lang, line in sorted(context.items())),
        "",
        f"# the least chance for each level; together they flag {FALSE_ALARMS:.0%} of the harmless rows they were chosen on,",
        "# which were written to be mistaken: everyday talk is flagged far less",
        "[thresholds]",
        *(f"{level.value} = {thresholds[level]}" for level in CRISIS_LEVELS),
        "# in a language that was not trained on; below it the turn is `unscored`, never `none`",
        f"untrained = {untrained}",
        "",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
