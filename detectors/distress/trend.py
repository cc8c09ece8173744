"""Is a person's distress rising over their turns? Theil–Sen slope with its interval: one odd turn moves nothing (D4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from detectors.finding import Evidence, UserSignal

Floats = NDArray[np.float64]

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


def slow_build_up(signals: Sequence[UserSignal]) -> tuple[Evidence, ...]:
    """The finding of a slow build-up, or nothing. Cheap for the many turns that cannot be one."""
    distress = [signal.distress for signal in signals]
    return trend_of(distress).evidence() if _has_risen(_newest(distress)) else ()


def warm() -> None:
    """Load the statistics now: it takes a second, which an event loop does not have."""
    _theil_sen(np.array([0.0, 1.0]))


def trend_of(distress: Sequence[float]) -> Trending:
    """``distress`` 0–1, oldest first. Fewer than four turns, or none that differ, tell nothing or steadiness."""
    values = _newest(distress)
    count = len(values)
    if count < _ENOUGH:
        return Trending(Trend.UNKNOWN, turns=count)
    if np.ptp(values) < 1e-9:
        return Trending(Trend.STEADY, turns=count)
    slope, low, high = _theil_sen(values)
    if slope >= _STEP and low > 0:
        found = Trend.RISING
    elif slope <= -_STEP and high < 0:
        found = Trend.FALLING
    else:
        found = Trend.STEADY
    return Trending(found, slope, low, high, count, build_up=found is Trend.RISING and _has_risen(values))


def _newest(distress: Sequence[float]) -> Floats:
    return np.asarray(distress[-_SPAN:], dtype=np.float64)


def _has_risen(values: Floats) -> bool:
    """From the first third of the turns to the last, by enough and to enough."""
    if len(values) < _ENOUGH:
        return False
    third = max(1, len(values) // 3)
    last = float(np.median(values[-third:]))
    return last >= _REACHED and last - float(np.median(values[:third])) >= _GAIN


def _theil_sen(values: Floats) -> tuple[float, float, float]:
    """Slope a turn with the ends of its interval."""
    from scipy.stats import theilslopes  # noqa: PLC0415 - see ``warm``

    slope, _, low, high = theilslopes(values, np.arange(len(values)), alpha=_CONFIDENCE)
    return float(slope), float(low), float(high)
