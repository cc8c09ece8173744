"""Fit the heads of ``detectors.reply.heads``: logistic regression with a ridge, on judged replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from detectors.reply.heads import NAMES, Heads

RIDGE = 1 / 30
"""Chosen by five-fold cross-validation over families, by log loss; 1/10 and 1/100 are nearly as good."""

Floats = NDArray[np.float64]


def fit(vectors: NDArray[np.float32], labels: Mapping[str, Sequence[bool]], encoder: str) -> Heads:
    """Fit one head for each of ``NAMES``. ``labels`` gives one truth for each row of ``vectors``."""
    found = [
        _regress(vectors.astype(np.float64), np.asarray(labels[name], dtype=np.float64)) for name in NAMES
    ]
    weights = np.stack([weights for weights, _ in found]).astype(np.float32)
    return Heads(
        weights=weights, bias=np.array([bias for _, bias in found], dtype=np.float32), encoder=encoder
    )


def _regress(vectors: Floats, truth: Floats) -> tuple[Floats, float]:
    sign = 2 * truth - 1

    def loss(point: Floats) -> tuple[float, Floats]:
        weights, bias = point[:-1], point[-1]
        margin = sign * (vectors @ weights + bias)
        pull = -sign / (1 + np.exp(np.clip(margin, -50, 50)))
        value = np.logaddexp(0, -margin).sum() + RIDGE / 2 * weights @ weights
        return float(value), np.append(vectors.T @ pull + RIDGE * weights, pull.sum())

    point = minimize(
        loss, np.zeros(vectors.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 2000}
    ).x
    return point[:-1], float(point[-1])
