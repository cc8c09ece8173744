"""A user turn in its conversation: what the trained reader makes of the memories of the turns before it (D4, D5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

import numpy as np

from detectors.crisis.calibration import Calibration, load_calibration, strength
from detectors.crisis.memory import REACH, Reading, read, unpack
from detectors.crisis.model import Model, load_model
from detectors.distress.marks import CONTEXT
from detectors.finding import Evidence, Level, UserSignal

IN_CONTEXT: Final = "in_context"
CLEARED: Final = "cleared_by_context"
RISING: Final = "rising"
_RISES: Final = 2  # its place among falling, steady, rising
_CLEARLY: Final = 0.6
_KEPT: Final = 8192  # readings; a conversation is judged anew with each of its turns
Before = Sequence[tuple[str, bool]]


class Reader:
    """Judges turns by a model and its calibration. Pure but for a bounded store of answers."""

    def __init__(self, model: Model, calibration: Calibration) -> None:
        self._model = model
        self._calibration = calibration
        self._reading = lru_cache(maxsize=_KEPT)(self._read)

    def judge(self, signal: UserSignal, before: Before) -> UserSignal:
        """The signal given the memories of the turns before it, oldest first (True: an assistant's).

        Unchanged where it has no memory or none of them can be read. A level the turn has only in context, or no
        longer has, and a state that gets worse from turn to turn, are evidence of kind ``contextual``.
        """
        if not signal.memory or not before:
            return signal
        told = [one for one in before if one[0]]  # what left nothing takes no place
        reading = self._reading(tuple(told[-REACH:]), signal.memory)
        if reading is None:
            return signal
        strong = strength(reading.crisis, reading.levels)
        score = self._calibration.chance(strong, signal.language, context=True)
        level = self._calibration.decide(score, reading.levels, signal.language)
        found = [Evidence(CONTEXT, reason, 0, 1.0)] if (reason := _changed(signal.level, level)) else []
        if (rising := _rising(reading)) >= _CLEARLY:
            found.append(Evidence(CONTEXT, RISING, 0, round(rising, 3)))
        return replace(
            signal,
            level=level,
            score=round(score, 4),
            distress=round(_moved(signal.distress, reading.distress), 3),
            evidence=(*found, *signal.evidence),
        )

    def _read(self, before: tuple[tuple[str, bool], ...], now: str) -> Reading | None:
        current = unpack(now, self._model)
        earlier = [(memory, role) for packed, role in before if (memory := unpack(packed, self._model))]
        return read(self._model, earlier, current) if current is not None and earlier else None


def _rising(reading: Reading) -> float:
    """The chance that things get worse from turn to turn (D4)."""
    odds = np.exp(reading.trend - reading.trend.max())
    return float(odds[_RISES] / odds.sum())


def _moved(distress: float, by: float) -> float:
    """Distress 0–1 moved by a logit."""
    kept = min(max(distress, 0.01), 0.99)
    return 1 / (1 + math.exp(-(math.log(kept / (1 - kept)) + by)))


def _changed(alone: Level, level: Level) -> str:
    if level.crisis and not alone.crisis:
        return IN_CONTEXT
    return CLEARED if alone.crisis and not level.crisis else ""


@cache
def shipped_reader() -> Reader:
    """The reader of the model that comes with the package."""
    return Reader(load_model(), load_calibration())
