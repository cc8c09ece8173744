"""From a logit to a chance that means what it says, and from the chance to a level: ``models/calibration.toml``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

from detectors.crisis.model import LEVELS, Floats
from detectors.finding import CRISIS_LEVELS, Level

SHIPPED: Final = Path(str(resources.files("detectors"))) / "models" / "calibration.toml"
_OTHERS: Final = "other"
_NO_WORDS: Final = "zxx"


def strength(crisis: float, levels: Floats) -> float:
    """How strongly two heads say crisis, a logit: the mean of the one asked so and of the odds of all crisis levels.

    They were trained on the same truth and err differently; their mean is steadier than either.
    """
    top = float(levels.max())
    risky = math.log(float(np.exp(levels[1:] - top).sum())) + top
    return (crisis + risky - float(levels[0])) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """Platt scaling (1999): chance = sigmoid(slope · logit + offset)."""

    slope: float
    offset: float

    def __call__(self, logit: float) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.slope * logit + self.offset))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """``alone`` and ``context``: a line for each language trained on, and for the others; ``thresholds`` by level."""

    alone: Mapping[str, Line]
    context: Mapping[str, Line]
    thresholds: Mapping[Level, float]
    untrained: float  # threshold in a language that was not trained on; below it the turn is unscored
    languages: frozenset[str]

    def chance(self, strength: float, language: str, *, context: bool = False) -> float:
        lines = self.context if context else self.alone
        return lines.get(language, lines[_OTHERS])(strength)

    def decide(self, chance: float, levels: Floats, language: str) -> Level:
        """The likeliest crisis level if the chance reaches its threshold; else none, or unscored where we cannot tell."""
        level = CRISIS_LEVELS[int(np.argmax(levels[1:]))]
        if language in self.languages or language == _NO_WORDS:
            return level if chance >= self.thresholds[level] else Level.NONE
        return level if chance >= max(self.untrained, self.thresholds[level]) else Level.UNSCORED


@cache
def load_calibration(path: Path = SHIPPED) -> Calibration:
    """Raises ``ValueError`` naming the first level without a threshold."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))

    def lines(name: str) -> dict[str, Line]:
        return {lang: Line(float(one[0]), float(one[1])) for lang, one in data["chance"][name].items()}

    thresholds = {
        Level(name): float(value) for name, value in data["thresholds"].items() if name != "untrained"
    }
    for level in LEVELS[1:]:
        if level not in thresholds:
            raise ValueError(f"{path.name}: thresholds.{level.value} is missing")
    return Calibration(
        alone=lines("alone"),
        context=lines("context"),
        thresholds=thresholds,
        untrained=float(data["thresholds"]["untrained"]),
        languages=frozenset(data["languages"]),
    )
