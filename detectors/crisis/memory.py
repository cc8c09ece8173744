"""What a turn leaves behind for the turns after it: some numbers, never words (M7)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from detectors.crisis.model import LEVELS, Floats, Model

REACH: Final = 8  # earlier turns that are read
_STEP: Final = 12.0  # of a logit
_LIMIT: Final = 127


@dataclass(frozen=True, slots=True)
class Memory:
    """``trace`` (48) what the reader goes over; ``crisis`` and ``levels`` what the turn says by itself, as logits."""

    trace: Floats = field(repr=False)
    crisis: float
    levels: Floats = field(repr=False)


def pack(memory: Memory, model: Model) -> str:
    """The model's mark and a byte a number, as text that a JSON document can hold."""
    logits = np.concatenate([[memory.crisis], memory.levels]) * _STEP
    numbers = np.concatenate([memory.trace * _LIMIT, logits])
    whole = np.clip(np.rint(numbers), -_LIMIT, _LIMIT).astype(np.int8)
    return base64.b85encode(model.mark + whole.tobytes()).decode()


def remember(model: Model, vectors: Floats) -> list[str]:
    """Packed memories of assistant messages by their unit vectors (n, dimension): of those nothing is judged here."""
    traces = np.tanh(model.memory(vectors * np.float32(model.scale)))
    nothing = np.zeros(len(LEVELS), dtype=np.float32)
    return [pack(Memory(trace, 0.0, nothing), model) for trace in traces]


def unpack(packed: str, model: Model) -> Memory | None:
    """None for what another model left behind, or nothing."""
    try:
        whole = base64.b85decode(packed)
    except (ValueError, binascii.Error):
        return None
    size = len(model.memory.bias)
    if whole[: len(model.mark)] != model.mark or len(whole) != len(model.mark) + size + 1 + len(LEVELS):
        return None
    numbers = np.frombuffer(whole[len(model.mark) :], dtype=np.int8).astype(np.float32)
    logits = numbers[size:] / np.float32(_STEP)
    return Memory(numbers[:size] / np.float32(_LIMIT), float(logits[0]), logits[1:])


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn given the turns before it: logits of crisis, of each level, of distress, and of each trend."""

    crisis: float
    levels: Floats = field(repr=False)
    distress: float  # what is added to the turn's own logit
    trend: Floats = field(repr=False)


def read(model: Model, before: Sequence[tuple[Memory, bool]], now: Memory) -> Reading:
    """``before``: memories oldest first, True for an assistant's; only the last ``REACH`` are read."""
    state = np.zeros(model.gates_state.weight.shape[1], dtype=np.float32)
    for memory, assistant in before[-REACH:]:
        role = np.array([not assistant, assistant], dtype=np.float32)
        state = _step(model, np.concatenate([memory.trace, role]), state)
    told = np.concatenate([state, now.trace, [np.float32(now.crisis)], now.levels])
    judged = np.tanh(model.judge(told.astype(np.float32)))
    added = {name: head(judged) for name, head in model.context.items()}
    return Reading(
        now.crisis + float(added["crisis"][0]),
        now.levels + added["level"],
        float(added["distress"][0]),
        added["trend"],
    )


def _step(model: Model, told: Floats, state: Floats) -> Floats:
    """One step of a gated recurrent unit (Cho et al. 2014), as torch's ``GRUCell`` computes it."""
    r_in, z_in, n_in = np.split(model.gates_in(told), 3)
    r_state, z_state, n_state = np.split(model.gates_state(state), 3)
    reset, keep = _sigmoid(r_in + r_state), _sigmoid(z_in + z_state)
    new = np.tanh(n_in + reset * n_state)
    moved: Floats = (1 - keep) * new + keep * state
    return moved


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30, 30))), dtype=np.float32)
