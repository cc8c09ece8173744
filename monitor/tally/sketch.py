"""Latencies in buckets that grow by a fixed ratio, so that every quantile is known to half a percent and sketches add up.

The buckets are those of DDSketch (Masson, Rim & Lee 2019, "DDSketch: a fast and fully-mergeable quantile sketch with
relative-error guarantees", VLDB 12(12)), kept as plain whole numbers: the sketch of several workers is to the last digit that
of one, and it is JSON as it stands. Nothing collapses: from a millisecond to a day there are 1,830 buckets at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

ACCURACY: Final = 0.005
_RATIO: Final = (1 + ACCURACY) / (1 - ACCURACY)
_LOG: Final = math.log(_RATIO)
_LONGEST: Final = 86_400_000.0  # milliseconds

Sketch = dict[int, int]


def bucket_of(milliseconds: float) -> int:
    """0 holds all up to a millisecond."""
    return max(math.ceil(math.log(min(max(milliseconds, 1.0), _LONGEST)) / _LOG), 0)


def quantile(sketch: Mapping[int, int], share: float) -> float | None:
    """In seconds; None of nothing. ``share`` 0-1 is that of the values at or below."""
    total = sum(sketch.values())
    if not total:
        return None
    left = share * (total - 1)
    for bucket in sorted(sketch):
        left -= sketch[bucket]
        if left < 0:
            break
    return 2 * _RATIO**bucket / (_RATIO + 1) / 1000
