"""The fused score: a logistic over named features, and linear heads over the frozen vectors.

Weights are fitted by ``detectors.crisis.fit`` and shipped as a readable JSON and a small array file;
provenance stands in ``detectors/models/README.md``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from detectors.crisis.features import NAMES
from detectors.finding import CRISIS_LEVELS, Emotion

Floats = NDArray[np.float32]
EMOTIONS: tuple[Emotion, ...] = tuple(Emotion)
CUES: tuple[str, ...] = (
    "self_negation",
    "helplessness",
    "chronic",
    "masking",
    "burden",
    "farewell",
    "humour_wrapped",
)
_HEADS = ("meaning", "levels", "distress", "emotions", "cues")


def sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -30, 30))), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Heads:
    """Linear heads over unit vectors; each weight has shape (outputs, dimension), each bias (outputs,)."""

    weights: dict[str, Floats] = field(repr=False)
    biases: dict[str, Floats] = field(repr=False)

    def read(self, name: str, vectors: Floats) -> Floats:
        """Raw outputs, shape (n, outputs)."""
        return np.asarray(vectors @ self.weights[name].T + self.biases[name], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Fusion:
    """``weights`` by feature name; ``means`` and ``scales`` bring the three continuous features to unit size."""

    bias: float
    weights: dict[str, float]
    means: dict[str, float]
    scales: dict[str, float]

    def shares(self, features: dict[str, float]) -> dict[str, float]:
        """What each feature adds to the log odds."""
        return {
            name: self.weights[name]
            * (features[name] - self.means.get(name, 0.0))
            / self.scales.get(name, 1.0)
            for name in NAMES
        }

    def logit(self, features: dict[str, float]) -> float:
        return self.bias + sum(self.shares(features).values())


def _models() -> Path:
    return Path(str(resources.files("detectors"))) / "models"


def load_fusion(folder: Path | None = None) -> Fusion:
    data = json.loads((folder or _models()).joinpath("crisis_fusion.json").read_text(encoding="utf-8"))
    return Fusion(data["bias"], data["weights"], data["means"], data["scales"])


def load_heads(folder: Path | None = None) -> Heads:
    with np.load((folder or _models()) / "crisis_heads.npz", allow_pickle=False) as data:
        weights = {name: data[f"{name}_weight"].astype(np.float32) for name in _HEADS}
        biases = {name: data[f"{name}_bias"].astype(np.float32) for name in _HEADS}
    if weights["levels"].shape[0] != len(CRISIS_LEVELS):
        raise ValueError(
            "crisis_heads.npz does not fit the list of levels: fit it again (detectors.crisis.fit)"
        )
    return Heads(weights, biases)
