"""The shipped model's small parts as arrays: a linear layer for each label, and the reader of earlier turns.

What they were trained as stands in ``detectors.training.network``; here is the same arithmetic without torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from detectors.encoder.errors import WeightsError
from detectors.finding import CRISIS_LEVELS, Level

Floats = NDArray[np.float32]
LEVELS: Final = (Level.NONE, *CRISIS_LEVELS)
_MARK: Final = 2  # bytes
SHIPPED: Final = Path(str(resources.files("detectors"))) / "models" / "jiezhu.safetensors"


@dataclass(frozen=True, slots=True)
class Linear:
    """``weight`` (out, in), ``bias`` (out)."""

    weight: Floats = field(repr=False)
    bias: Floats = field(repr=False)

    def __call__(self, rows: Floats) -> Floats:
        found: Floats = rows @ self.weight.T + self.bias
        return found


@dataclass(frozen=True, slots=True)
class Model:
    """``heads`` read unit vectors times ``scale``; ``context`` reads what ``judge`` makes of a conversation.

    ``bank`` (n, memory) are the memories of our own training rows, with each row's family and kind, for evidence.
    """

    heads: Mapping[str, Linear]
    memory: Linear
    gates_in: Linear
    gates_state: Linear
    judge: Linear
    context: Mapping[str, Linear]
    bank: NDArray[np.int8] = field(repr=False)
    families: tuple[str, ...] = field(repr=False)
    kinds: tuple[str, ...] = field(repr=False)
    risky: NDArray[np.bool_] = field(repr=False)
    languages: frozenset[str]
    mark: bytes = b""  # of this very model: memories of another one mean something else

    @property
    def scale(self) -> float:
        return float(self.memory.weight.shape[1] ** 0.5)


@cache
def load_model(path: Path = SHIPPED) -> Model:
    """Raises ``WeightsError`` when the file is not whole."""
    try:
        with safe_open(path, framework="numpy") as file:
            meta = file.metadata() or {}
            names = set(file.keys())

            def linear(name: str, weight: str = "weight", bias: str = "bias") -> Linear:
                return Linear(
                    file.get_tensor(f"{name}.{weight}").astype(np.float32),
                    file.get_tensor(f"{name}.{bias}").astype(np.float32),
                )

            def group(name: str) -> dict[str, Linear]:
                inside = {n.split(".")[1] for n in names if n.startswith(f"{name}.")}
                return {one: linear(f"{name}.{one}") for one in sorted(inside)}

            index = json.loads(meta["bank"])
            return Model(
                heads=group("heads"),
                memory=linear("memory"),
                gates_in=linear("reader", "weight_ih", "bias_ih"),
                gates_state=linear("reader", "weight_hh", "bias_hh"),
                judge=linear("judge.0"),
                context=group("context"),
                bank=file.get_tensor("bank"),
                families=tuple(index["families"]),
                kinds=tuple(index["kinds"]),
                risky=np.array(index["risky"], dtype=np.bool_),
                languages=frozenset(json.loads(meta["languages"])),
                mark=hashlib.sha256(file.get_tensor("memory.weight").tobytes()).digest()[:_MARK],
            )
    except (OSError, KeyError, ValueError, SafetensorError) as error:
        raise WeightsError(
            f"{path} is no model of ours: install the package again, or train one with jiezhu train"
        ) from error
