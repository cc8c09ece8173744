"""Permutation p-values: replies change sides within their stratum, as if the two groups were one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from detectors.drift.boundary import Floats
from detectors.drift.tally import Counts


def permuted_p(
    one: Counts, other: Counts, weights: Floats, spread: float, draws: int, chance: np.random.Generator
) -> float:
    """Of a difference in weighted means. ``one`` and ``other`` (strata, levels) are counts, ``weights`` (strata) sum to one.

    To permute replies is to draw a stratum's first side from the histogram of both without replacement, so the counts are
    enough. ``spread`` is the design effect: by its root the difference is too large if replies are taken for independent.
    Counts the observed one in (Phipson & Smyth 2010): never zero.
    """
    values = np.arange(one.shape[1])
    observed = drawn = np.zeros(1)
    for first, second, weight in zip(one, other, weights, strict=True):
        n, m, both = int(first.sum()), int(second.sum()), first + second
        if not weight or not n or not m:
            continue
        picked = chance.multivariate_hypergeometric(both, n, size=draws, method="marginals") @ values
        drawn = drawn + weight * (picked / n - (int(both @ values) - picked) / m)
        observed = observed + weight * (first @ values / n - second @ values / m)
    reached = np.abs(drawn) >= abs(observed[0]) / np.sqrt(spread) - 1e-12
    return float((1 + np.broadcast_to(reached, (draws,)).sum()) / (1 + draws))


def holm(p_values: Floats) -> Floats:
    """Corrected for their number, step by step down (Holm 1979)."""
    order = np.argsort(p_values)
    steps = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def energy(
    one: list[Floats], other: list[Floats], draws: int, chance: np.random.Generator
) -> tuple[float, float]:
    """Energy distance (Szekely & Rizzo 2013) between rows of the same strata, weighted as means are, and its p-value.

    Each list holds an array (rows, width) a stratum. Strata with fewer than two rows on either side say nothing.
    The distance is 2 E|X-Y| - E|X-X'| - E|Y-Y'| over pairs of different rows: around zero for two alike.
    """
    observed, drawn, whole = 0.0, np.zeros(draws), 0.0
    for first, second in zip(one, other, strict=True):
        n, m = len(first), len(second)
        if min(n, m) < 2:
            continue
        rows = np.concatenate([first, second])
        apart = cdist(rows, rows)
        weight = n * m / (n + m)
        sides = np.zeros((draws + 1, n + m))
        sides[0, :n] = 1
        sides[1:] = chance.permuted(np.broadcast_to(sides[0], (draws, n + m)), axis=1)
        found = weight * _energies(sides, apart, n, m)
        observed, drawn, whole = observed + float(found[0]), drawn + found[1:], whole + weight
    if not whole:
        return 0.0, 1.0
    return observed / whole, float((1 + (drawn >= observed - 1e-12).sum()) / (1 + draws))


def _energies(sides: NDArray[np.float64], apart: Floats, n: int, m: int) -> Floats:
    """For each row of ``sides`` (draws, n + m), 1 where a row of the sample is on the first side."""
    towards = sides @ apart
    within = (towards * sides).sum(axis=1)
    across = towards.sum(axis=1) - within
    rest = apart.sum() - within - 2 * across
    return np.asarray(2 * across / (n * m) - within / (n * (n - 1)) - rest / (m * (m - 1)))
