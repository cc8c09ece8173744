"""How two histograms over the levels of a feature differ. Rows are features; inputs are shares that sum to one."""

from __future__ import annotations

import numpy as np

from detectors.drift.boundary import Floats
from detectors.drift.feature import LEVELS

_LEAST = 1e-4
"""Share that an empty level is taken to have: the index would be infinite without it."""


def stability_index(one: Floats, other: Floats) -> Floats:
    """Population stability index, the symmetric Kullback-Leibler divergence (Jeffreys 1946). 0.1 is small, 0.25 large."""
    p, q = (np.maximum(each, _LEAST) for each in (one, other))
    return np.asarray(((p - q) * np.log(p / q)).sum(axis=-1))


def kolmogorov_smirnov(one: Floats, other: Floats) -> Floats:
    """The largest gap between the cumulative shares, 0-1."""
    return np.asarray(np.abs(np.cumsum(one - other, axis=-1)).max(axis=-1))


def wasserstein(one: Floats, other: Floats) -> Floats:
    """Mean distance, 0-1 on the feature's scale, that shares must be moved (Vallender 1974)."""
    return np.asarray(np.abs(np.cumsum(one - other, axis=-1))[..., :-1].sum(axis=-1) / (LEVELS - 1))
