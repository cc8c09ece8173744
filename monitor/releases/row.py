"""A figure on both sides, and what may be said of the two. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from detectors.drift.permutation import holm
from monitor.releases.difference import Difference, Figure
from monitor.tally.rates import BETTER_IF_MORE, WORSE_IF_MORE

FEWEST: Final = 30
"""Observations on either side below which nothing is said of a share or a mean: 0 of 30 leaves up to 11 % open."""
IN_TAIL: Final = 5  # of the replies, beyond a quantile that something is said of
ALPHA: Final = 0.05
MISS: Final = "safety_miss"


class Finding(StrEnum):
    NOT_ENOUGH = "not_enough"
    WITHIN_CHANCE = "within_chance"
    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"  # surely another figure, of which nobody can say that it is better or worse


class Family(StrEnum):
    RATE = "rate"
    MARK = "mark"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure on both sides. ``lang`` and ``level`` narrow a rate of misses.

    ``p_corrected``: over all rows but the misses in all, which are judged by themselves (Holm 1979).
    """

    family: Family
    name: str
    basis: str
    reference: Figure | None
    current: Figure | None
    difference: Difference | None = None
    lang: str = ""
    level: str = ""
    p_corrected: float | None = None
    finding: Finding = Finding.NOT_ENOUGH

    @property
    def foremost(self) -> bool:
        return self.name == MISS and not self.lang and not self.level


def judged(rows: Sequence[Row]) -> list[Row]:
    """Corrected over the rows of which there is enough, or a table of sixty would show three differences of nothing."""
    corrected: dict[int, float] = {}
    for foremost in (True, False):
        places = [at for at, row in enumerate(rows) if row.foremost == foremost and _enough(row)]
        ps = [one.difference.p for one in (rows[at] for at in places) if one.difference is not None]
        if ps:
            corrected |= dict(zip(places, holm(np.array(ps)).tolist(), strict=True))
    return [
        replace(row, p_corrected=corrected[at], finding=_finding(row, corrected[at]))
        if at in corrected
        else row
        for at, row in enumerate(rows)
    ]


def _enough(row: Row) -> bool:
    if row.difference is None or row.reference is None or row.current is None:
        return False
    fewest = FEWEST
    if row.family is Family.LATENCY:
        fewest = max(FEWEST, round(IN_TAIL / (1 - float(row.name))))
    return min(row.reference.size, row.current.size) >= fewest


def _finding(row: Row, p: float) -> Finding:
    if row.difference is None or p >= ALPHA or row.difference.value == 0:
        return Finding.WITHIN_CHANCE
    more = row.difference.value > 0
    if row.family is Family.LATENCY or row.name in WORSE_IF_MORE:
        return Finding.WORSE if more else Finding.BETTER
    if row.family is Family.MARK or row.name in BETTER_IF_MORE:
        return Finding.BETTER if more else Finding.WORSE
    return Finding.OTHER
