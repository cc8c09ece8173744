"""Differences between two figures: how large, how sure. Pure.

Intervals of a difference are made of the two figures' own, squared and added (MOVER: Zou & Donner 2008, "Construction of
confidence limits about effect measures", Stat Med 27(10)); of Wilson's intervals this is Newcombe's tenth method (Newcombe
1998, "Interval estimation for the difference between independent proportions", Stat Med 17(8)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.stats import fisher_exact, ttest_ind_from_stats

from monitor.tally.cell import THOUSAND, Marks
from monitor.tally.rates import Rate, Z
from monitor.tally.sketch import quantile


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval, of ``size`` observations; ``above`` of them counted, where it is a share."""

    value: float
    low: float
    high: float
    size: int
    above: int | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Current less reference, with its 95 % interval; ``p`` by itself, two-sided."""

    value: float
    low: float
    high: float
    p: float


def figure_of(rate: Rate) -> Figure:
    return Figure(rate.share, *rate.interval, rate.denominator, rate.numerator)


def apart(current: Figure, reference: Figure, p: float) -> Difference:
    value = current.value - reference.value
    below = math.hypot(current.value - current.low, reference.high - reference.value)
    above = math.hypot(current.high - current.value, reference.value - reference.low)
    return Difference(value, value - below, value + above, p)


def p_of_shares(current: tuple[int, int], reference: tuple[int, int]) -> float:
    """Fisher's exact test of ``(above, size)`` on either side."""
    table = [[above, size - above] for above, size in (current, reference)]
    return float(fisher_exact(table).pvalue)


def p_of_means(current: Marks, reference: Marks) -> float:
    """Welch's test. Two marks at least on either side."""
    means, spreads, sizes = zip(*((*_moments(one), one.count) for one in (current, reference)), strict=True)
    if not any(spreads):
        return float(means[0] == means[1])
    found = ttest_ind_from_stats(
        means[0], spreads[0], sizes[0], means[1], spreads[1], sizes[1], equal_var=False
    )
    return float(found.pvalue)


def quantile_of(latency: Mapping[int, int], share: float) -> Figure | None:
    """In seconds, with the interval of its rank (normal law); None of nothing."""
    size = sum(latency.values())
    value = quantile(latency, share)
    if value is None:
        return None
    half = Z * math.sqrt(share * (1 - share) / size)
    low, high = (quantile(latency, min(max(share + side, 0.0), 1.0)) for side in (-half, half))
    return Figure(value, low or 0.0, high or value, size)


def p_of_quantiles(current: Mapping[int, int], reference: Mapping[int, int], share: float) -> float:
    """Whether as many lie beyond what is the quantile of both together (Mood's median test, at any share; Fisher's p).

    Latencies of a bucket are ties, so it is asked above the quantile's and from it on, and the smaller p counts twice.
    """
    both = {bucket: current.get(bucket, 0) + reference.get(bucket, 0) for bucket in {*current, *reference}}
    left = share * (sum(both.values()) - 1)
    at = 0
    for at in sorted(both):
        left -= both[at]
        if left < 0:
            break
    ps = []
    for least in (at, at + 1):
        beyond, of = zip(
            *((_from(side, least), sum(side.values())) for side in (current, reference)), strict=True
        )
        ps.append(p_of_shares((beyond[0], of[0]), (beyond[1], of[1])))
    return min(1.0, 2 * min(ps))


def _from(latency: Mapping[int, int], least: int) -> int:
    return sum(count for bucket, count in latency.items() if bucket >= least)


def _moments(marks: Marks) -> tuple[float, float]:
    over = marks.count * marks.squares - marks.total * marks.total  # exact, so never a little below 0
    spread = math.sqrt(over / (marks.count * (marks.count - 1))) / THOUSAND
    return marks.total / marks.count / THOUSAND, spread
