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
_HEADS = ("levels", "distress", "emotions", "cues")
CONTINUOUS = ("crisis_nearness", "contrast_nearness", "meaning", "wording")


def sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -30, 30))), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Heads:
    """Linear heads over unit vectors, each weight (outputs, dimension) and bias (outputs,); the meaning net; wording.

    The net is several small ones side by side: ``hidden`` (nets, width, dimension) with its bias, ``output``
    (nets, 1 + levels, width) with its bias; class 0 is "none". ``wording`` has one weight a bucket.
    """

    weights: dict[str, Floats] = field(repr=False)
    biases: dict[str, Floats] = field(repr=False)
    hidden: Floats = field(repr=False)
    hidden_bias: Floats = field(repr=False)
    output: Floats = field(repr=False)
    output_bias: Floats = field(repr=False)
    wording: Floats = field(repr=False)
    wording_bias: float

    def read(self, name: str, vectors: Floats) -> Floats:
        """Raw outputs of a linear head, shape (n, outputs)."""
        return np.asarray(vectors @ self.weights[name].T + self.biases[name], dtype=np.float32)

    def meaning(self, vectors: Floats) -> Floats:
        """Log odds of a crisis by the vector alone, shape (n,)."""
        layer = np.maximum(np.einsum("nd,kwd->knw", vectors, self.hidden) + self.hidden_bias[:, None, :], 0.0)
        raw = np.einsum("knw,kow->kno", layer, self.output) + self.output_bias[:, None, :]
        raw = np.exp(raw - raw.max(axis=2, keepdims=True))
        none = np.clip((raw[:, :, 0] / raw.sum(axis=2)).mean(axis=0), 1e-5, 1 - 1e-5)
        return np.asarray(np.log((1 - none) / none), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Fusion:
    """``weights`` by feature name; ``means`` and ``scales`` bring the continuous features to unit size."""

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


def load_fusion(name: str = "crisis_fusion.json", folder: Path | None = None) -> Fusion:
    data = json.loads((folder or _models()).joinpath(name).read_text(encoding="utf-8"))
    return Fusion(data["bias"], data["weights"], data["means"], data["scales"])


def load_heads(folder: Path | None = None) -> Heads:
    """Raises ValueError where the file was fitted for another list of levels."""
    with np.load((folder or _models()) / "crisis_heads.npz", allow_pickle=False) as data:
        arrays = {name: data[name].astype(np.float32) for name in data.files}
    if arrays["levels_weight"].shape[0] != len(CRISIS_LEVELS):
        raise ValueError(
            "crisis_heads.npz does not fit the list of levels: fit it again (detectors.crisis.fit)"
        )
    return heads_from(arrays)


def heads_from(arrays: dict[str, Floats]) -> Heads:
    """From arrays named ``<head>_weight``, ``<head>_bias``, ``net_…`` and ``wording``."""
    return Heads(
        weights={name: arrays[f"{name}_weight"] for name in _HEADS},
        biases={name: arrays[f"{name}_bias"] for name in _HEADS},
        hidden=arrays["net_hidden"],
        hidden_bias=arrays["net_hidden_bias"],
        output=arrays["net_output"],
        output_bias=arrays["net_output_bias"],
        wording=arrays["wording"],
        wording_bias=float(arrays["wording_bias"]),
    )
