"""How far a standardised difference may stray, looked at as often as one likes, before it says something.

The boundary is that of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, "Time-uniform
central limit theory and asymptotic confidence sequences", Annals of Statistics 52(6), theorem 2.2), after Robbins' normal
mixture (1970): over all times together it is crossed by chance with probability ``alpha`` at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def boundary(time: Floats, alpha: Floats | float, tuned: float) -> Floats:
    """In standard errors, at ``time`` (information: one over the variance of a difference of unit variance).

    ``tuned`` is the time at which it is tightest (their equation 9 for the best rho); elsewhere it holds as well.
    """
    if not (np.greater(alpha, 0).all() and np.less(alpha, 1).all()):
        raise ValueError("alpha must be between 0 and 1")
    whole = -2 * np.log(alpha)
    growth = np.maximum(time, 1e-9) * ((whole + np.log(whole + 1)) / tuned)
    bound: Any = np.sqrt((1 + 1 / growth) * (np.log1p(growth) + whole))
    return np.asarray(bound, dtype=np.float64)
