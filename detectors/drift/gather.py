"""The sums that the statistics ask for, out of sketches: the same strata in the same order for both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from detectors.drift.boundary import Floats
from detectors.drift.feature import FEATURES, LEVELS
from detectors.drift.means import Sums
from detectors.drift.sketch import StyleSketch
from detectors.drift.stratum import PLACE, Stratum
from detectors.drift.tally import Counts, Pairs, Tally
from detectors.drift.trace import WIDTH

_VALUES = np.arange(LEVELS) / (LEVELS - 1)
_POWERS = np.stack([_VALUES, _VALUES**2, _VALUES**3])
_TRACE_SPAN = 254.0
_F = len(FEATURES)


def common_strata(one: StyleSketch, other: StyleSketch, least: int) -> tuple[Stratum, ...]:
    """Those in which both have ``least`` replies, in the order of ``stratum.ALL``."""
    both = [
        key
        for key in one.strata.keys() & other.strata.keys()
        if min(one.strata[key].replies, other.strata[key].replies) >= least
    ]
    return tuple(sorted(both, key=PLACE.__getitem__))


def feature_sums(sketch: StyleSketch, strata: Sequence[Stratum]) -> Sums:
    """Of levels as shares 0-1."""
    tallies = [sketch.strata[key] for key in strata]
    keys, pairs = _links(sketch, strata)
    sums = np.stack([one.sums[:, :_F] for one in pairs], axis=1).astype(np.float64)
    scale = LEVELS - 1
    return Sums(
        np.array([one.replies for one in tallies], dtype=np.float64),
        np.stack([(_POWERS @ one.histograms.T).astype(np.float64) for one in tallies], axis=1),
        keys,
        np.array([one.pairs for one in pairs], dtype=np.float64),
        sums / np.array([scale, scale, scale**2])[:, None, None],
        np.asarray(pairs_per_reply(sketch, strata), dtype=np.float64),
    )


def trace_sums(sketch: StyleSketch, strata: Sequence[Stratum]) -> Sums:
    """Of the numbers of traces, moved from -127..127 to 0-1."""
    tallies = [sketch.strata[key] for key in strata]
    keys, pairs = _links(sketch, strata)
    count = np.array([one.traced for one in pairs], dtype=np.float64)
    left, right, product = np.stack([one.sums[:, _F:] for one in pairs], axis=1).astype(np.float64)
    half, n = _TRACE_SPAN / 2, count[:, None]
    products = np.stack(
        [
            (left + half * n) / _TRACE_SPAN,
            (right + half * n) / _TRACE_SPAN,
            (product + half * (left + right) + half**2 * n) / _TRACE_SPAN**2,
        ]
    )
    return Sums(
        np.array([one.traced for one in tallies], dtype=np.float64),
        np.stack([_shifted(one) for one in tallies], axis=1),
        keys,
        count,
        products,
        np.asarray(pairs_per_reply(sketch, strata), dtype=np.float64),
    )


def histograms(sketch: StyleSketch, strata: Sequence[Stratum]) -> Counts:
    """Shape (strata, features, levels)."""
    return np.stack([sketch.strata[key].histograms for key in strata])


def samples(sketch: StyleSketch, strata: Sequence[Stratum]) -> list[Floats]:
    """Traces kept of each stratum, -1 to 1, rows in the order of their hashes."""
    return [
        np.array(
            [np.frombuffer(rows[key][1], dtype=np.int8) for key in sorted(rows)], dtype=np.float64
        ).reshape(-1, WIDTH)
        / (_TRACE_SPAN / 2)
        for rows in (sketch.strata[stratum].sample.rows for stratum in strata)
    ]


def _shifted(tally: Tally) -> Floats:
    """Sums of powers of (x + 127) / 254 out of those of x, exact in whole numbers until the division."""
    first, second, third = tally.powers
    half, n = 127, tally.traced
    return np.stack(
        [
            (first + half * n) / _TRACE_SPAN,
            (second + 2 * half * first + half**2 * n) / _TRACE_SPAN**2,
            (third + 3 * half * second + 3 * half**2 * first + half**3 * n) / _TRACE_SPAN**3,
        ]
    )


def _links(
    sketch: StyleSketch, strata: Sequence[Stratum]
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.intp]], list[Pairs]]:
    places = np.array(list(combinations_with_replacement(range(len(strata)), 2)), dtype=np.intp)
    nothing = Pairs()
    return places, [sketch.linked.get((strata[one], strata[other]), nothing) for one, other in places]


def pairs_per_reply(sketch: StyleSketch, strata: Sequence[Stratum]) -> float:
    """Pairs of one conversation for each reply in ``strata``, seen or not.

    Of all pairs they have the share that they have of those seen: short conversations elsewhere make those here no shorter.
    That is roughly so where conversations are longer than what is at hand of them.
    """
    here = sum(sketch.strata[key].replies for key in strata)
    seen = sum(one.pairs for one in sketch.linked.values())
    if not seen:
        return sketch.pairs / max(sketch.replies, 1)
    return sketch.pairs * sum(one.pairs for one in _links(sketch, strata)[1]) / seen / max(here, 1)
