"""A user turn in its conversation: what the trained reader makes of the memories of the turns before it (D4, D5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final

from detectors.crisis.calibration import Calibration, load_calibration
from detectors.crisis.memory import REACH, Reading, read, unpack
from detectors.crisis.model import Model, load_model
from detectors.distress.marks import CONTEXT
from detectors.finding import Evidence, Level, UserSignal

IN_CONTEXT: Final = "in_context"
CLEARED: Final = "cleared_by_context"
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
        longer has, gets evidence of kind ``contextual``.
        """
        if not signal.memory or not before:
            return signal
        reading = self._reading(tuple(before[-REACH:]), signal.memory)
        if reading is None:
            return signal
        score = self._calibration.chance(reading.crisis, signal.language, context=True)
        level = self._calibration.decide(score, reading.levels, signal.language)
        reason = _changed(signal.level, level)
        evidence = (Evidence(CONTEXT, reason, 0, 1.0), *signal.evidence) if reason else signal.evidence
        return replace(signal, level=level, score=round(score, 4), evidence=evidence)

    def _read(self, before: tuple[tuple[str, bool], ...], now: str) -> Reading | None:
        size = len(self._model.memory.bias)
        current = unpack(now, size)
        earlier = [(memory, role) for packed, role in before if (memory := unpack(packed, size))]
        return read(self._model, earlier, current) if current is not None and earlier else None


def _changed(alone: Level, level: Level) -> str:
    if level.crisis and not alone.crisis:
        return IN_CONTEXT
    return CLEARED if alone.crisis and not level.crisis else ""


@cache
def shipped_reader() -> Reader:
    """The reader of the model that comes with the package."""
    return Reader(load_model(), load_calibration())
