"""Fit the heads of ``detectors.reply.heads``: logistic regression with a ridge, on judged replies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from detectors.reply.heads import FLAGS, NAMES, Heads

RIDGE: Final = 1 / 10
"""Chosen by five-fold cross-validation over families, by area under the curve; 1/30 and 3/10 are nearly as good."""
FOLDS: Final = 5

Floats = NDArray[np.float64]


def fit(
    vectors: NDArray[np.float32],
    found: Sequence[Sequence[float]],
    labels: Mapping[str, Sequence[bool | None]],
    families: Sequence[str],
    encoder: str,
    on_head: Callable[[int, int], None] = lambda *_: None,
) -> Heads:
    """Fit one head for each of ``NAMES``.

    ``found`` and ``labels`` give the features and one truth of each row, None where readers differ: such a row is left out.
    Flags are rare: their bias is moved so that log-odds of 0 are where the F1 of cross-validation over families is best.
    """
    rows = np.hstack([vectors, np.asarray(found)]).astype(np.float64)
    folds = np.array([_fold(family) for family in families])
    weights, biases = [], []
    for place, name in enumerate(NAMES):
        known = np.array([one is not None for one in labels[name]])
        truth = np.array([bool(one) for one in labels[name]], dtype=np.float64)[known]
        weight, bias = _regress(rows[known], truth)
        if name in _RARE:
            bias -= _best_cut(rows[known], truth, folds[known])
        weights.append(weight)
        biases.append(bias)
        on_head(place + 1, len(NAMES))
    return Heads(
        weights=np.stack(weights).astype(np.float32), bias=np.array(biases, dtype=np.float32), encoder=encoder
    )


_RARE: Final = frozenset(flag.value for flag in FLAGS)


def _fold(family: str) -> int:
    return int(hashlib.sha256(f"cut {family}".encode()).hexdigest(), 16) % FOLDS


def _best_cut(rows: Floats, truth: Floats, folds: NDArray[np.int64]) -> float:
    """Log-odds above which rows of families that were not fitted on are told with the best F1; 0 where none is true."""
    told = np.zeros(len(truth))
    for fold in range(FOLDS):
        held = folds == fold
        if held.any() and not held.all():
            weight, bias = _regress(rows[~held], truth[~held], exactness=1e-6)
            told[held] = rows[held] @ weight + bias
    if not truth.any():
        return 0.0
    order = np.argsort(-told, kind="stable")
    hits = truth[order].cumsum()
    best = int(np.argmax(2 * hits / (np.arange(1, len(order) + 1) + truth.sum())))
    below = told[order[best + 1]] if best + 1 < len(order) else told[order[best]] - 1
    return float((told[order[best]] + below) / 2)


def _regress(rows: Floats, truth: Floats, exactness: float = 1e-8) -> tuple[Floats, float]:
    sign = 2 * truth - 1

    def loss(point: Floats) -> tuple[float, Floats]:
        weights, bias = point[:-1], point[-1]
        margin = sign * (rows @ weights + bias)
        pull = -sign / (1 + np.exp(np.clip(margin, -50, 50)))
        value = np.logaddexp(0, -margin).sum() + RIDGE / 2 * weights @ weights
        return float(value), np.append(rows.T @ pull + RIDGE * weights, pull.sum())

    point = minimize(
        loss,
        np.zeros(rows.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "ftol": exactness},
    ).x
    return point[:-1], float(point[-1])
