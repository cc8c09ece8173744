"""Sides out of the store: the hours of a release, or a pinned baseline; and a baseline out of a side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from detectors.drift.compare import USUAL
from detectors.drift.packing import SketchError, pack, unpack
from monitor.baselines import Baseline
from monitor.errors import JiezhuError
from monitor.releases.side import LIVE, REPLIES, Side, basis_of, side_of
from monitor.tally.cell import HOUR, Cell, Tally, Where, hour_of
from monitor.tally.codec import tally_of_json, tally_to_json
from monitor.tally.hours import OTHER
from monitor.tally.ports import Tallies

_NAMED: Final = 12  # releases that an error names
_LONG: Final = 64  # characters of a name in an error


@dataclass(frozen=True, slots=True)
class Span:
    """Whole hours: from ``since`` on, until before ``until``."""

    since: datetime
    until: datetime

    def __str__(self) -> str:
        return f"{self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M} UTC"

    @property
    def hours(self) -> list[datetime]:
        count = int((self.until - self.since) / HOUR)
        return [self.since + place * HOUR for place in range(count)]


def span_of(since: datetime, until: datetime) -> Span:
    """The whole hours that these times touch."""
    last = hour_of(until)
    return Span(hour_of(since), last if last == until else last + HOUR)


async def read_side(tallies: Tallies, release: str, track: str | None, span: Span) -> Side:
    """Of a release in these hours. Raises ``JiezhuError`` saying what to do if there is none, or more than one track."""
    known = await _known(tallies, span)
    tracks = sorted(each for each, name in known if name == release)
    if track is None and len(tracks) > 1:
        raise JiezhuError(f"release {_said(release)} ran on {' and '.join(tracks)}: name one by --track")
    chosen = track or (tracks[0] if tracks else None)
    if chosen is None or chosen not in tracks:
        raise JiezhuError(_unknown(release, track, span, known))
    rows = await tallies.between(chosen, release, span.since, span.until)
    if not rows:
        raise JiezhuError(_unknown(release, track, span, known))
    return side_of(chosen, release, rows, span.until, unpack)


async def newest_release(tallies: Tallies, track: str, span: Span) -> str:
    """That of which this track told last."""
    pairs = await tallies.pairs(span.hours)
    for hour in sorted(pairs, reverse=True):
        found = sorted(release for each, release in pairs[hour] if each == track and release != OTHER)
        if found:
            if len(found) > 1:
                named = ", ".join(_said(one) for one in found[:_NAMED])
                raise JiezhuError(f"several releases run on {track} ({named}): name one")
            return found[0]
    raise JiezhuError(
        f"no figures of track {_said(track)} from {span}: give a longer --hours, or another track"
    )


def side_of_baseline(baseline: Baseline) -> Side:
    """Raises ``JiezhuError`` for one that this release cannot read."""
    try:
        cells = tally_of_json(baseline.figures).cells
        sketch = unpack(baseline.sketch)
    except (ValueError, SketchError) as error:
        raise JiezhuError(f"baseline {_said(baseline.name)}: {error}; pin one anew") from None
    return Side(
        f"baseline {baseline.name} ({baseline.release}, {baseline.track}, pinned {baseline.pinned_at:%Y-%m-%d})",
        baseline.track,
        baseline.release,
        baseline.since,
        baseline.until,
        cells,
        {baseline.basis or _basis_before(cells): sketch},
        models=baseline.models or None,
    )


def baseline_of(name: str, side: Side, models: Mapping[str, str], now: datetime) -> Baseline:
    """Raises ``JiezhuError`` if the side says too little to hold others against it."""
    basis = basis_of({basis: sketch.replies for basis, sketch in side.sketches.items()}, USUAL.replies)
    if basis is None:
        raise JiezhuError(
            f"no style of {_said(side.release)} was recorded in these hours: let workers of this version, "
            f"with JIEZHU_PUBLISHING__ENABLED, judge {USUAL.replies} replies first"
        )
    sketch = side.sketches[basis]
    for have, wanted, what in (
        (sketch.replies, USUAL.replies, "replies"),
        (sketch.conversations, USUAL.conversations, "conversations"),
    ):
        if have < wanted:
            raise JiezhuError(
                f"too few {what} of {_said(side.release)} to pin: {have} of {wanted}; "
                f"wait for {wanted - have} more, or begin earlier by --since"
            )
    tally = Tally(hour_of(side.since), dict(side.cells))
    return Baseline(
        name,
        side.track,
        side.release,
        now,
        side.since,
        side.until,
        models,
        tally_to_json(tally),
        pack(sketch),
        basis,
    )


def _basis_before(cells: Mapping[Where, Cell]) -> str:
    """Of a baseline that does not say: people's if there was anything of theirs."""
    live = any(cell.counts[REPLIES] for where, cell in cells.items() if where.basis == LIVE)
    return LIVE if live else "probe"


def named(baselines: Sequence[Baseline], name: str) -> Baseline:
    for one in baselines:
        if one.name == name:
            return one
    known = ", ".join(_said(one.name) for one in baselines[:_NAMED])
    told = f"pinned are {known}" if known else "none is pinned; pin one by `jiezhu baseline pin RELEASE`"
    raise JiezhuError(f"no baseline {_said(name)}: {told}")


async def _known(tallies: Tallies, span: Span) -> set[tuple[str, str]]:
    pairs = await tallies.pairs(span.hours)
    return {pair for some in pairs.values() for pair in some}


def _unknown(release: str, track: str | None, span: Span, known: Collection[tuple[str, str]]) -> str:
    on = f" on {_said(track)}" if track else ""
    missing = f"no figures of release {_said(release)}{on} from {span}"
    if not known:
        return f"{missing}, nor of any other: a worker adds them up (JIEZHU_PUBLISHING__ENABLED); or begin earlier"
    told = [f"{_said(name)} ({each})" for each, name in sorted(known, key=lambda pair: pair[::-1])]
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return f"{missing}; known are {', '.join(told[:_NAMED])}{more}"


def _said(name: str) -> str:
    """A name that somebody gave, in a line of ours."""
    return repr(name[:_LONG])
