"""Is a person's distress rising over their turns? Theil–Sen slope with its interval: one odd turn moves nothing (D4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.stats import theilslopes

from detectors.finding import Evidence, UserSignal

_ENOUGH = 4  # turns
_SPAN = 12  # newest turns looked at
_CONFIDENCE = 0.8
_STEP = 0.03  # distress per turn from which a slope matters
_GAIN = 0.3  # rise from the first turns to the last that makes a build-up
_REACHED = 0.5  # and the strain it must have come to


class Trend(StrEnum):
    RISING = "rising"
    STEADY = "steady"
    FALLING = "falling"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Trending:
    """``slope`` in distress (0–1) a turn with its interval ``low``–``high``; ``build_up``: a finding of its own."""

    trend: Trend
    slope: float = 0.0
    low: float = 0.0
    high: float = 0.0
    turns: int = 0
    build_up: bool = False

    def evidence(self) -> tuple[Evidence, ...]:
        """The finding of a slow build-up, for turns none of which alarms by itself."""
        return (Evidence("contextual", "slow_build_up", 0, round(self.slope, 3)),) if self.build_up else ()


def trend(signals: Sequence[UserSignal]) -> Trending:
    """Over the distress of a conversation's user turns, oldest first; the newest 12 count."""
    return trend_of([signal.distress for signal in signals])


def trend_of(distress: Sequence[float]) -> Trending:
    """``distress`` 0–1, oldest first. Fewer than four turns, or none that differ, tell nothing or steadiness."""
    values = np.asarray(distress[-_SPAN:], dtype=np.float64)
    count = len(values)
    if count < _ENOUGH:
        return Trending(Trend.UNKNOWN, turns=count)
    if np.ptp(values) < 1e-9:
        return Trending(Trend.STEADY, turns=count)
    slope, _, low, high = (float(x) for x in theilslopes(values, np.arange(count), alpha=_CONFIDENCE))
    if slope >= _STEP and low > 0:
        found = Trend.RISING
    elif slope <= -_STEP and high < 0:
        found = Trend.FALLING
    else:
        found = Trend.STEADY
    third = max(1, count // 3)
    gain = float(np.median(values[-third:]) - np.median(values[:third]))
    build_up = found is Trend.RISING and gain >= _GAIN and float(np.median(values[-third:])) >= _REACHED
    return Trending(found, slope, low, high, count, build_up)
