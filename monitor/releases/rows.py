"""Every figure of either side beside the other's: rates, marks, latency. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from monitor.releases.difference import (
    Figure,
    apart,
    figure_of,
    p_of_means,
    p_of_quantiles,
    p_of_shares,
    quantile_of,
)
from monitor.releases.row import MISS, Family, Row, judged
from monitor.releases.side import Side
from monitor.tally.cell import Cell, Marks
from monitor.tally.rates import Rate, mean_of, miss_rate, misses_by_level, rates_of
from monitor.tally.sketch import Sketch

T = TypeVar("T")
QUANTILES: Final = (0.5, 0.95, 0.99)
_OF_PEOPLE: Final = frozenset(
    {"continuation", "returned", "helpful"}
)  # a script comes as far as it was written


def rows_of(reference: Side, current: Side) -> list[Row]:
    """With what may be said of each."""
    return judged([*_rates(reference, current), *_marks(reference, current), *_latencies(reference, current)])


def _rates(reference: Side, current: Side) -> Iterator[Row]:
    for basis in sorted({*reference.bases(), *current.bases()}):
        cells = (reference.of(basis), current.of(basis))
        for title, pair in _paired(*(dict(rates_of(cell.counts)) for cell in cells)):
            if basis == "live" or title not in _OF_PEOPLE:
                yield _rate(title, basis, *pair)
        for level, pair in _paired(*(dict(misses_by_level(cell.counts)) for cell in cells)):
            yield _rate(MISS, basis, *pair, level=level)
        languages = {*reference.languages(basis), *current.languages(basis)}
        if len(languages) > 1:
            for lang in sorted(languages):
                of_lang = [miss_rate(side.of(basis, lang=lang).counts) for side in (reference, current)]
                if any(of_lang):
                    yield _rate(MISS, basis, of_lang[0], of_lang[1], lang=lang)


def _rate(
    title: str, basis: str, reference: Rate | None, current: Rate | None, lang: str = "", level: str = ""
) -> Row:
    figures = [None if one is None else figure_of(one) for one in (reference, current)]
    row = Row(Family.RATE, title, basis, figures[0], figures[1], lang=lang, level=level)
    if reference is None or current is None:
        return row
    p = p_of_shares((current.numerator, current.denominator), (reference.numerator, reference.denominator))
    return _with(row, p)


def _marks(reference: Side, current: Side) -> Iterator[Row]:
    for basis in sorted({*reference.bases(), *current.bases()}):
        cells = (reference.of(basis), current.of(basis))
        for key, (one, other) in _paired(*(cell.marks for cell in cells)):
            figures = [_mean(key, side) for side in (one, other)]
            row = Row(Family.MARK, key, basis, figures[0], figures[1])
            enough = one is not None and other is not None and min(one.count, other.count) > 1
            yield _with(row, p_of_means(other, one)) if enough and one and other else row


def _mean(key: str, marks: Marks | None) -> Figure | None:
    if marks is None:
        return None
    mean = mean_of(key.partition(":")[0], marks)
    return Figure(mean.value, mean.low, mean.high, mean.count)


def _latencies(reference: Side, current: Side) -> Iterator[Row]:
    """Of people and scripts together: neither makes a reply come sooner."""
    sketches: list[Sketch] = [_latency(side) for side in (reference, current)]
    for share in QUANTILES:
        one, other = (quantile_of(sketch, share) for sketch in sketches)
        row = Row(Family.LATENCY, str(share), "all", one, other)
        if one is not None and other is not None:
            yield _with(row, p_of_quantiles(sketches[1], sketches[0], share))
        elif one is not None or other is not None:
            yield row


def _latency(side: Side) -> Sketch:
    whole = Cell()
    for cell in side.cells.values():
        whole.merge(Cell(latency=cell.latency))
    return whole.latency


def _with(row: Row, p: float) -> Row:
    if row.reference is None or row.current is None:
        return row
    return replace(row, difference=apart(row.current, row.reference, p))


def _paired(one: Mapping[str, T], other: Mapping[str, T]) -> Iterator[tuple[str, tuple[T | None, T | None]]]:
    for key in (*one, *(key for key in other if key not in one)):
        yield key, (one.get(key), other.get(key))
