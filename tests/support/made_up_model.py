"""A model small enough to follow: an earlier turn has weighed on its speaker, or has lightened things, or neither.

A memory's first number says which (1, -1, 0). What was said last counts most, and the user's words more than the
assistant's. In context a turn's logit moves by up to ``SWAY`` either way.
"""

from __future__ import annotations

import numpy as np

from detectors.crisis.calibration import Calibration, Line
from detectors.crisis.memory import Memory, pack
from detectors.crisis.model import LEVELS, Floats, Linear, Model
from detectors.crisis.reader import Reader
from detectors.finding import CRISIS_LEVELS, Cue, Emotion, Level, ReplySignal, UserSignal

DIMENSION = 8  # of a vector
SWAY = 8.0
_TRACE = 2  # numbers of a memory that the reader goes over


def _weights(rows: int, columns: int, **given: float) -> Linear:
    """Zeros but for ``r0c1=5.0`` and the like."""
    weight = np.zeros((rows, columns), dtype=np.float32)
    for place, value in given.items():
        row, _, column = place.removeprefix("r").partition("c")
        weight[int(row), int(column)] = value
    return Linear(weight, np.zeros(rows, dtype=np.float32))


def _chance(rows: int, seed: int) -> Linear:
    source = np.random.default_rng(seed)
    return Linear(source.normal(size=(rows, DIMENSION)).astype(np.float32), np.zeros(rows, dtype=np.float32))


MODEL = Model(
    heads={
        "crisis": _chance(1, 1),
        "level": _chance(len(LEVELS), 2),
        "distress": _chance(1, 3),
        "emotions": _chance(len(Emotion), 4),
        "cues": _chance(len(Cue), 5),
    },
    memory=_chance(_TRACE, 6),
    # a step is told a trace and whether it was the user's or the assistant's; rows are reset, keep and new
    gates_in=_weights(6, _TRACE + 2, r2c3=2.0, r3c3=2.0, r4c0=3.0, r5c1=3.0),
    gates_state=_weights(6, 2),
    judge=_weights(1, 2 + _TRACE + 1 + len(LEVELS), r0c0=3.0),
    context={
        "crisis": _weights(1, 1, r0c0=SWAY),
        "level": _weights(len(LEVELS), 1, **{f"r{place}c0": SWAY for place in range(1, len(LEVELS))}),
        "distress": _weights(1, 1, r0c0=1.0),
        "trend": _weights(3, 1),
    },
    bank=np.array([[127, 0], [0, 127], [-127, 0], [0, -127]], dtype=np.int8),
    families=("weighs", "stings", "lightens", "passes"),
    kinds=("plain", "plain", "everyday", "everyday"),
    risky=np.array([True, True, False, False]),
    languages=frozenset({"zh"}),
)
_LINES = {"other": Line(1.0, 0.0)}
CALIBRATION = Calibration(_LINES, _LINES, dict.fromkeys(CRISIS_LEVELS, 0.5), 0.9, frozenset({"zh", "en"}))
READER = Reader(MODEL, CALIBRATION)
WEIGHS, LIGHTENS, PASSES = 1.0, -1.0, 0.0


def memory(weight: float, logit: float = 0.0, level: Level = Level.ACTIVE_IDEATION) -> str:
    """Of a turn that says ``logit`` by itself, by both heads, and would be of ``level``."""
    levels: Floats = np.full(len(LEVELS), -10.0, dtype=np.float32)
    levels[LEVELS.index(Level.NONE)] = 0.0
    levels[LEVELS.index(level)] = logit
    return pack(Memory(np.array([weight, 0.0], dtype=np.float32), logit, levels), MODEL)


def asked(weight: float, logit: float, level: Level = Level.ACTIVE_IDEATION, **facts: object) -> UserSignal:
    """A user's turn as the scorer of this model would have judged it by itself."""
    chance = CALIBRATION.chance(logit, "zh")
    told = {"distress": 0.2, "language": "zh", "memory": memory(weight, logit, level)} | facts
    return UserSignal(level if chance >= 0.5 else Level.NONE, round(chance, 4), **told)


def answered(weight: float) -> ReplySignal:
    return ReplySignal(memory=memory(weight))


class HashedTexts:
    """An ``Encoder`` that gives each text a direction of its own."""

    dimension = DIMENSION

    def encode(self, texts):
        rows = [np.random.default_rng(list(text.encode())).normal(size=DIMENSION) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)
