"""Differences of means within strata, with errors that allow for the likeness of replies of one conversation.

Strata are weighted by n_a n_b / (n_a + n_b) (Cochran 1954; Mantel & Haenszel 1959): where one side has few, little is said.
These weights also make (weight x difference) a martingale as either side grows, which the boundary asks for.

All arrays may have leading dimensions, so that many looks are judged in one call. Shapes below leave them out: S strata,
F features, K pairs of strata.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from detectors.drift.boundary import Floats, boundary
from detectors.drift.policy import Policy

_HALF = 0.5
"""An unseen half-observation at either end of the scale: where nothing varied yet, something may."""

_NOTHING = 1e-9
"""Sum of squares of what is one constant in both groups: that much rounding leaves. It differs in nothing yet."""


@dataclass(frozen=True, slots=True)
class Sums:
    """``replies`` (S). ``powers`` (3, S, F): sums of first to third powers of values 0-1.

    ``linked`` (K, 2): places of the strata of each pair, ``pairs`` (K) their numbers, ``products`` (3, K, F): sums over the
    first side, the second, and of products. ``per_reply``: pairs of one conversation for each reply, seen or not.
    """

    replies: Floats
    powers: Floats
    linked: NDArray[np.intp]
    pairs: Floats
    products: Floats
    per_reply: Floats


@dataclass(frozen=True, slots=True)
class Differences:
    """Each (F). ``first`` and ``second`` are weighted means, ``low`` and ``high`` the interval that holds at all times.

    ``effect`` is in ``deviation``, the standard deviation within strata. ``ready``: enough for the boundary to be trusted; ``wanted``: how many
    replies the smaller side should have for that. ``spread`` is by how much likeness within conversations swells the
    variance (design effect, Kish 1965) of each side.
    """

    first: Floats
    second: Floats
    difference: Floats
    low: Floats
    high: Floats
    deviation: Floats
    effect: Floats
    score: Floats
    crossed: NDArray[np.bool_]
    ready: NDArray[np.bool_]
    wanted: Floats
    spread: tuple[Floats, Floats]


def differences(one: Sums, other: Sums, alpha: Floats | float, policy: Policy) -> Differences:
    """``one`` against ``other`` in the same strata. ``alpha`` is of each feature, or the same for all."""
    n_one, n_other = one.replies[..., None], other.replies[..., None]  # (S, 1)
    both = (n_one >= policy.stratum_replies) & (n_other >= policy.stratum_replies)
    shared = np.where(both, n_one * n_other / np.maximum(n_one + n_other, 1), 0.0)
    whole = shared.sum(axis=-2)  # (1)
    weights = shared / np.maximum(whole[..., None, :], 1e-12)
    used_one, used_other = (np.where(both, n, 0.0).sum(axis=-2) for n in (n_one, n_other))
    mean_one, mean_other = _mean(one.powers[..., 0, :, :], n_one), _mean(other.powers[..., 0, :, :], n_other)
    first, second = (weights * mean_one).sum(axis=-2), (weights * mean_other).sum(axis=-2)
    difference = first - second

    squares_one, squares_other = _squares(one, n_one, both), _squares(other, n_other, both)
    between = shared * (mean_one - mean_other) ** 2
    count = np.maximum(used_one + used_other, 1)
    variance = (squares_one + squares_other).sum(axis=-2) / count
    spread_one, spread_other = _spreads(one, other, mean_one, mean_other, variance)

    pooled = (squares_one + squares_other + between) / np.maximum(n_one + n_other - 2, 1)  # (S, F)
    square = weights**2
    rate_one, rate_other = _rates(square, both, n_one, n_other, spread_one, spread_other)
    apart = (rate_one * squares_one / np.maximum(n_one - 1, 1)).sum(axis=-2)
    apart += (rate_other * squares_other / np.maximum(n_other - 1, 1)).sum(axis=-2)
    apart += _HALF * (
        spread_one / np.maximum(used_one, 1) ** 2 + spread_other / np.maximum(used_other, 1) ** 2
    )
    together = ((rate_one + rate_other) * pooled).sum(axis=-2)
    error = np.sqrt(np.maximum(apart, together))
    time = 1 / np.maximum((rate_one + rate_other).sum(axis=-2), 1e-12)

    skew = _skewness(one, other, both, count)
    fewest = np.minimum(used_one / spread_one, used_other / spread_other)
    need = np.maximum(policy.replies, policy.skewness * skew**2)
    deviation = np.sqrt(np.maximum(variance, 1e-9))
    bound = boundary(time, alpha, policy.tuned)
    score = difference / np.maximum(error, 1e-12)
    unvaried = (squares_one + squares_other + between).sum(axis=-2) <= _NOTHING
    ready = (whole > 0) & (
        (fewest >= need) | (unvaried & (np.minimum(used_one, used_other) >= policy.replies))
    )
    smaller = np.where(used_one / spread_one <= used_other / spread_other, spread_one, spread_other)
    return Differences(
        first,
        second,
        difference,
        difference - bound * error,
        difference + bound * error,
        deviation,
        difference / deviation,
        score,
        ready & (np.abs(score) > bound),
        ready,
        np.ceil(need * smaller),
        (spread_one, spread_other),
    )


def matters(found: Differences, policy: Policy) -> NDArray[np.bool_]:
    """Which differences are large enough to be told of, were they sure (F). A rare feature may grow manifold and move little."""
    most, least = np.maximum(found.first, found.second), np.minimum(found.first, found.second)
    return np.asarray((np.abs(found.effect) >= policy.smallest) | (most > policy.ratio * least))


def _mean(sums: Floats, n: Floats) -> Floats:
    return np.asarray(sums / np.maximum(n, 1))


def _squares(sums: Sums, n: Floats, both: NDArray[np.bool_]) -> Floats:
    """Sum of squared deviations from the stratum's mean (S, F)."""
    first, second = sums.powers[..., 0, :, :], sums.powers[..., 1, :, :]
    return np.where(both, np.maximum(second - first**2 / np.maximum(n, 1), 0.0), 0.0)


def _rates(
    square: Floats,
    both: NDArray[np.bool_],
    n_one: Floats,
    n_other: Floats,
    spread_one: Floats,
    spread_other: Floats,
) -> tuple[Floats, Floats]:
    """What a unit of a stratum's variance adds to that of the difference, from either side (S, F)."""
    one = np.where(both, square / np.maximum(n_one, 1), 0.0) * spread_one[..., None, :]
    other = np.where(both, square / np.maximum(n_other, 1), 0.0) * spread_other[..., None, :]
    return one, other


def _spreads(
    one: Sums, other: Sums, mean_one: Floats, mean_other: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """1 + 2 (pairs / replies) x (correlation within conversations), the correlation being learnt from both sides (F).

    Deviations are from means that the same replies made, which hides a part of the correlation: it is put back once.
    """
    shared = _products(one, mean_one) + _products(other, mean_other)
    seen = (one.pairs.sum(axis=-1) + other.pairs.sum(axis=-1))[..., None]
    doubled_one, doubled_other = 2 * one.per_reply[..., None], 2 * other.per_reply[..., None]
    plain = _likeness(shared, seen, variance)
    hidden = _hidden(one) * (1 + doubled_one * plain) + _hidden(other) * (1 + doubled_other * plain)
    likeness = _likeness(shared + hidden * variance, seen, variance)
    return 1 + doubled_one * likeness, 1 + doubled_other * likeness


def _likeness(shared: Floats, seen: Floats, variance: Floats) -> Floats:
    found = np.clip(shared / np.maximum(seen * variance, 1e-9), 0.0, 1.0)
    return np.where(seen > 0, found, 0.0)


def _hidden(sums: Sums) -> Floats:
    """Pairs within a stratum over its replies, which is the share of the variance that its mean takes along (1)."""
    within = sums.linked[:, 0] == sums.linked[:, 1]
    replies = sums.replies[..., sums.linked[within, 0]]
    return np.asarray((sums.pairs[..., within] / np.maximum(replies, 1)).sum(axis=-1, keepdims=True))


def _products(sums: Sums, mean: Floats) -> Floats:
    """Sum over pairs of products of deviations (F)."""
    left, right, product = (sums.products[..., place, :, :] for place in range(3))
    mean_left, mean_right = mean[..., sums.linked[:, 0], :], mean[..., sums.linked[:, 1], :]
    count = sums.pairs[..., None]
    return np.asarray(
        (product - mean_right * left - mean_left * right + mean_left * mean_right * count).sum(axis=-2)
    )


def _skewness(one: Sums, other: Sums, both: NDArray[np.bool_], count: Floats) -> Floats:
    """Of both sides together within strata (F), with a half-observation at the far end."""
    n = np.where(both, (one.replies + other.replies)[..., None], 0.0)
    first, second, third = (
        np.where(both, one.powers[..., place, :, :] + other.powers[..., place, :, :], 0.0)
        for place in range(3)
    )
    mean = first / np.maximum(n, 1)
    cubes = (third - 3 * mean * second + 2 * n * mean**3).sum(axis=-2)
    squares = np.maximum((second - n * mean**2).sum(axis=-2), 0.0)
    middle = first.sum(axis=-2) / count
    far = np.where(middle < _HALF, 1 - middle, -middle)
    squares, cubes = squares + _HALF * far**2, cubes + _HALF * far**3
    size = count + _HALF
    return np.asarray((cubes / size) / np.maximum(squares / size, 1e-12) ** 1.5)
