"""The figures of all workers as metrics: rates with their intervals, means of marks, quantiles of latency. Pure.

They are made anew each time, so a release that is no longer among the newest is gone, and their number is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from monitor.tally.cell import Cell, Where, merged
from monitor.tally.hours import OTHER, Place
from monitor.tally.rates import Rate, mean_of, miss_rate, misses_by_level, rates_of
from monitor.tally.sketch import quantile

PAIRS: Final = 6  # of track and release
ALL: Final = "all"
QUANTILES: Final = (0.5, 0.95, 0.99)
# What only people do: a script comes as far as it was written, and nobody asks it whether it was helped.
_OF_PEOPLE: Final = frozenset({"continuation", "returned", "helpful"})
_RATE: Final = ("rate", "track", "release", "lang", "level", "basis")
_SCORE: Final = ("scale", "dimension", "track", "release", "basis")
_PLACE: Final = ("track", "release")
Pair = tuple[str, str]
Rows = Sequence[tuple[Place, Cell]]


def figures(rows: Rows, window: timedelta) -> list[Metric]:
    """Of the rows of a window's hours."""
    shown = newest(rows)
    found = _Families()
    for pair in shown:
        mine = [
            (place.where, cell) for place, cell in rows if (place.where.track, place.where.release) == pair
        ]
        for basis in sorted({where.basis for where, _ in mine}):
            _add(found, pair, basis, [(where, cell) for where, cell in mine if where.basis == basis])
        latency = merged(cell for _, cell in mine).latency
        for share in QUANTILES:
            seconds = quantile(latency, share)
            if seconds is not None:
                found.latency.add_metric([str(share), *pair], seconds)
    found.window.add_metric([], window.total_seconds())
    return found.all()


def newest(rows: Rows) -> list[Pair]:
    """The tracks and releases heard of last, and of those the ones heard of most. Tracks take turns: none hides another."""
    heard: dict[Pair, tuple[float, int]] = {}
    for place, cell in rows:
        pair = (place.where.track, place.where.release)
        if pair[1] == OTHER:
            continue
        at, count = heard.get(pair, (0.0, 0))
        heard[pair] = (max(at, place.hour.timestamp()), count + sum(cell.counts.values()))
    found = sorted(heard, key=lambda pair: (heard[pair], pair), reverse=True)
    before = Counter[str]()  # on the same track
    turns: dict[Pair, int] = {}
    for pair in found:
        turns[pair] = before[pair[0]]
        before[pair[0]] += 1
    return sorted(found, key=turns.__getitem__)[:PAIRS]


class _Families:
    def __init__(self) -> None:
        def gauge(name: str, text: str, labels: Sequence[str]) -> GaugeMetricFamily:
            return GaugeMetricFamily(name, text, labels=labels)

        self.rate = gauge("jiezhu_rate", "Share over the window, of all workers", _RATE)
        self.low = gauge("jiezhu_rate_low", "Lower end of its 95 % interval (Wilson)", _RATE)
        self.high = gauge("jiezhu_rate_high", "Upper end of its 95 % interval (Wilson)", _RATE)
        self.numerator = gauge("jiezhu_rate_numerator", "How many", _RATE)
        self.denominator = gauge("jiezhu_rate_denominator", "Of how many", _RATE)
        self.mean = gauge("jiezhu_score_mean", "Mean of the marks over the window", _SCORE)
        self.mean_low = gauge("jiezhu_score_mean_low", "Lower end of its 95 % interval", _SCORE)
        self.mean_high = gauge("jiezhu_score_mean_high", "Upper end of its 95 % interval", _SCORE)
        self.size = gauge("jiezhu_score_mean_sample_size", "Answers that were marked", _SCORE)
        self.latency = gauge(
            "jiezhu_reply_latency_quantile_seconds",
            "From the user's turn to the assistant's reply, over the window; within half a percent",
            ("quantile", *_PLACE),
        )
        self.window = gauge("jiezhu_rate_window_seconds", "What rates and means are over", ())

    def add(self, labels: Sequence[str], rate: Rate) -> None:
        low, high = rate.interval
        self.rate.add_metric(labels, rate.share)
        self.low.add_metric(labels, low)
        self.high.add_metric(labels, high)
        self.numerator.add_metric(labels, rate.numerator)
        self.denominator.add_metric(labels, rate.denominator)

    def all(self) -> list[Metric]:
        return [
            *(self.rate, self.low, self.high, self.numerator, self.denominator),
            *(self.mean, self.mean_low, self.mean_high, self.size),
            *(self.latency, self.window),
        ]


def _add(found: _Families, pair: Pair, basis: str, cells: Iterable[tuple[Where, Cell]]) -> None:
    known = list(cells)
    whole = merged(cell for _, cell in known)
    for title, rate in rates_of(whole.counts):
        if basis == "live" or title not in _OF_PEOPLE:
            found.add([title, *pair, ALL, ALL, basis], rate)
    if basis == "live":  # a script has one language and one level
        for (lang, level), rate in _misses(known, whole):
            found.add(["safety_miss", *pair, lang, level, basis], rate)
    for key, marks in sorted(whole.marks.items()):
        scale, _, dimension = key.partition(":")
        mean = mean_of(scale, marks)
        labels = [scale, dimension, *pair, basis]
        found.mean.add_metric(labels, mean.value)
        found.mean_low.add_metric(labels, mean.low)
        found.mean_high.add_metric(labels, mean.high)
        found.size.add_metric(labels, mean.count)


def _misses(cells: Sequence[tuple[Where, Cell]], whole: Cell) -> Iterator[tuple[tuple[str, str], Rate]]:
    """By language over all levels, and by level over all languages."""
    for lang in sorted({where.lang for where, _ in cells}):
        rate = miss_rate(merged(cell for where, cell in cells if where.lang == lang).counts)
        if rate is not None:
            yield (lang, ALL), rate
    for level, rate in misses_by_level(whole.counts):
        yield (ALL, level), rate
