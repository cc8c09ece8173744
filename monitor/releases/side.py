"""One of the two sides of a comparison: what is known of a release in some hours, or of a pinned baseline. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from detectors.drift.packing import SketchError
from detectors.drift.sketch import StyleSketch, merge_all
from monitor.tally.cell import HOUR, Cell, Where, merged
from monitor.tally.hours import Hour, Place
from monitor.tally.names import Kind, name
from monitor.tally.styles import row_of

REPLIES: Final = name(Kind.TURN, "assistant")
LIVE: Final = "live"
ReadStyle = Callable[[bytes], StyleSketch]
"""What stands as style in an hour's row; raises ``SketchError``."""


@dataclass(frozen=True, slots=True)
class Side:
    """``cells`` of the hours from ``since`` until before ``until``, added up. ``sketches`` by basis.

    ``heard``: the hours in which there was anything; empty for a baseline, which no longer knows them apart.
    ``left_out``: hours whose style was read by another model, or by another version, than the newest ones.
    ``models``: what judged a baseline, by role; None where hours do not say.
    """

    title: str
    track: str
    release: str
    since: datetime
    until: datetime
    cells: Mapping[Where, Cell] = field(repr=False)
    sketches: Mapping[str, StyleSketch] = field(repr=False)
    heard: frozenset[datetime] = frozenset()
    left_out: int = 0
    models: Mapping[str, str] | None = None

    @property
    def replies(self) -> int:
        return sum(cell.counts[REPLIES] for cell in self.cells.values())

    def bases(self) -> list[str]:
        return sorted({where.basis for where in self.cells})

    def of(self, basis: str, *, lang: str | None = None) -> Cell:
        """All of one basis, in one language or in all."""
        return merged(
            cell
            for where, cell in self.cells.items()
            if where.basis == basis and (lang is None or where.lang == lang)
        )

    def languages(self, basis: str) -> set[str]:
        return {where.lang for where in self.cells if where.basis == basis}


def basis_of(replies: Mapping[str, int], enough: int) -> str | None:
    """Whose style speaks for a release, by the replies of each: people's where there are enough, else that of which there is most."""
    if replies.get(LIVE, 0) >= enough:
        return LIVE
    return max(sorted(replies), key=lambda basis: replies[basis]) if replies else None


def side_of(
    track: str, release: str, rows: Sequence[tuple[Place, Hour]], until: datetime, read_style: ReadStyle
) -> Side:
    """``rows`` of one release on one track, at least one, in any order; ``until``: what was asked for."""
    cells: dict[Where, list[Cell]] = {}
    for place, hour in rows:
        if not hour.cell:
            continue  # a row of styles alone
        cells.setdefault(place.where, []).append(hour.cell)
    sketches: dict[str, StyleSketch] = {}
    left_out: set[datetime] = set()
    for basis in sorted({place.where.basis for place, _ in rows}):
        styles = [
            (place.hour, hour.style)
            for place, hour in rows
            if place.where == row_of(track, release, basis) and hour.style
        ]
        found = _added_up(styles, read_style, left_out)
        if found is not None:
            sketches[basis] = found
    heard = frozenset(place.hour for place, _ in rows)
    return Side(
        f"{release} ({track})",
        track,
        release,
        min(heard),
        min(max(heard) + HOUR, until),
        {where: merged(some) for where, some in cells.items()},
        sketches,
        heard,
        len(left_out),
    )


def _added_up(
    styles: Iterable[tuple[datetime, bytes]], read_style: ReadStyle, left_out: set[datetime]
) -> StyleSketch | None:
    """Of the model that read the newest hours: sketches of two models do not add up. What is not in goes to ``left_out``."""
    read: list[tuple[datetime, StyleSketch]] = []
    for hour, style in styles:
        try:
            read.append((hour, read_style(style)))
        except SketchError:
            left_out.add(hour)
    named = [(hour, sketch.model) for hour, sketch in read if sketch.model]
    model = max(named)[1] if named else ""
    left_out.update(hour for hour, sketch in read if sketch.model not in ("", model))
    kept = [sketch for _, sketch in read if sketch.model in ("", model)]
    return merge_all(kept) if kept else None
