"""Hours: what the figures of an hour come to, and how tallies are added up in them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from monitor.tally.cell import Cell, Style, Tally, Where

PAIRS: Final = 32
"""Tracks and releases that one hour keeps apart. What comes beyond is added up under one name, so that a day is bounded."""
OF_A_TRACK: Final = 4
"""So many releases of a track are kept apart beside these: a hundred on staging hide none that people talk to."""
OTHER: Final = "(others)"


class Place(NamedTuple):
    """One row."""

    hour: datetime
    where: Where


@dataclass(frozen=True, slots=True)
class Hour:
    """``style`` is for whoever compares styles. ``unread``: what was counted cannot be read any more, and begins anew."""

    cell: Cell
    style: bytes | None = field(default=None, repr=False)
    unread: bool = False


FoldStyle = Callable[[bytes | None, Sequence[Style]], bytes]
CarefulFold = Callable[
    [bytes | None, Sequence[Style]], bytes | None
]  # None: nothing stood, and nothing could be added
"""What stood in an hour's row and the styles of replies that come to it: what stands there afterwards."""
Pairs = Mapping[datetime, Collection[tuple[str, str]]]


def gathered(tallies: Iterable[Tally], pairs: Pairs) -> tuple[dict[Place, Cell], dict[Place, list[Style]]]:
    """Add up tallies by row. ``pairs``: the tracks and releases that each hour knows already."""
    known = {hour: set(some) for hour, some in pairs.items()}
    cells: dict[Place, Cell] = {}
    styles: dict[Place, list[Style]] = {}
    for tally in tallies:
        room = known.setdefault(tally.hour, set())
        for where, cell in tally.cells.items():
            cells.setdefault(Place(tally.hour, _bounded(where, room)), Cell()).merge(cell)
        for where, style in tally.styles:
            styles.setdefault(Place(tally.hour, _bounded(where, room)), []).append(style)
    return cells, styles


def folded(
    cells: Mapping[Place, Cell],
    styles: Mapping[Place, Sequence[Style]],
    before: Mapping[Place, Hour],
    fold_style: CarefulFold | None,
) -> dict[Place, Hour]:
    """The rows as they stand with that added to them. Without ``fold_style``, styles are dropped."""
    after: dict[Place, Hour] = {}
    for place in cells if fold_style is None else {**cells, **dict.fromkeys(styles)}:
        stood = before.get(place)
        cell = Cell()
        for part in (stood.cell if stood else None, cells.get(place)):
            if part is not None:
                cell.merge(part)
        style = stood.style if stood else None
        if fold_style is not None and place in styles:
            style = fold_style(style, styles[place])
        after[place] = Hour(cell, style)
    return after


def _bounded(where: Where, room: set[tuple[str, str]]) -> Where:
    pair = (where.track, where.release)
    if pair not in room:
        mine = sum(track == where.track for track, _ in room)
        if len(room) >= PAIRS and mine >= OF_A_TRACK:
            return where._replace(release=OTHER)
        room.add(pair)
    return where
