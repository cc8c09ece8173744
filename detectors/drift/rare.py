"""Two shares of occurrences compared without asymptotics: for what one side lacks, and for sentences and phrases.

The evidence is a likelihood ratio: the numerator a mixture over shares drawn apart for either side (Krichevsky & Trofimov
1981), the denominator the best single share (Wasserman, Ramdas & Balakrishnan 2020, "Universal inference", section 7). Under
one common share it exceeds 1 / alpha with probability alpha at most, at whatever time one looks (Ville 1939). A function
of counts alone, so it may be asked of merged sketches.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, xlogy

from detectors.drift.boundary import Floats
from detectors.drift.tally import Counts

_PRIOR = 0.5


def log_evidence(found_one: Floats, of_one: Floats, found_other: Floats, of_other: Floats) -> Floats:
    """Natural logarithm. Counts may be fractions: replies that are alike within conversations count for fewer."""
    mixed = _mixture(found_one, of_one) + _mixture(found_other, of_other)
    found, of = found_one + found_other, of_one + of_other
    share = found / np.maximum(of, 1e-12)
    best = xlogy(found, share) + xlogy(of - found, 1 - share)
    return np.asarray(mixed - best, dtype=np.float64)


def presence(one: Counts, other: Counts, spread: tuple[Floats, Floats]) -> Floats:
    """Evidence (..., features) that features are there at all in unlike shares of replies, over strata.

    Counts (..., strata, features, levels), level 0 being absence; ``spread`` (..., features) are design effects.
    """
    sides = []
    for each, swell in zip((one, other), spread, strict=True):
        of = each.sum(axis=-1) / swell[..., None, :]
        sides += [of - each[..., 0] / swell[..., None, :], of]
    return np.asarray(log_evidence(*sides).sum(axis=-2), dtype=np.float64)


def _mixture(found: Floats, of: Floats) -> Floats:
    return np.asarray(betaln(found + _PRIOR, of - found + _PRIOR) - betaln(_PRIOR, _PRIOR), dtype=np.float64)
