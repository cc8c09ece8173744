"""Which comparisons are under way: which hours stand on either side of each, and since when. Pure.

The bound on false alarms holds for two groups that begin at a fixed time and only grow (``detectors.drift.compare``). So nothing
slides: each begins with the week (ISO 8601, Monday, UTC) or with its release in it, grows to the week's end, and begins anew.
All that is said here follows from the hours that are kept, so that whoever is elected next goes on with the same ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from detectors.turn import Track
from monitor.tally.cell import HOUR, Where, hour_of
from monitor.tally.hours import OTHER, Place
from monitor.tally.styles import ALL, COHORTS

if TYPE_CHECKING:
    from monitor.store.baselines import Baseline

AT_ONCE: Final = 6  # comparisons: what comes last, and of these what is heard of least, falls out
COHORTS_AT_ONCE: Final = 3  # releases whose contrast groups are compared
WEEK: Final = timedelta(days=7)
LIVE: Final = "live"  # scripts are no users: what is said to them is not compared
Pair = tuple[str, str]
Hours = Mapping[Where, Sequence[Place]]


class Against(StrEnum):
    """What a release is compared with, the most telling first."""

    STABLE = "stable"  # production in the same hours
    BASELINE = "baseline"  # what was pinned of its track
    PAST = "past"  # a week of its own, before
    COHORTS = "cohorts"  # none: its replies to the terse with those to the open (J12, P4)


@dataclass(frozen=True, slots=True)
class Name:
    """``since`` is the hour with which it began; ``to`` tells references apart, where there may be several."""

    against: Against
    track: str
    release: str
    since: datetime
    to: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``current`` and ``reference`` are rows, the oldest first; ``pinned`` is a reference that never grows."""

    name: Name
    current: tuple[Place, ...] = field(repr=False)
    reference: tuple[Place, ...] = field(default=(), repr=False)
    pinned: Baseline | None = None


def week_of(now: datetime) -> datetime:
    return datetime.combine(now.date() - timedelta(days=now.weekday()), time(), now.tzinfo)


def planned(
    now: datetime,
    held: Collection[Place],
    heard: Mapping[Pair, int],
    pinned: Sequence[Baseline],
    keep: timedelta,
) -> list[Comparison]:
    """``held``: rows with styles. ``heard``: the newest releases and how much was heard of each. ``pinned``: the newest first."""
    rows = _by_row(held)
    pairs = sorted(heard, key=lambda pair: (-heard[pair], pair))
    week = week_of(now)
    found = [
        *(one for pair in pairs for one in _with_production(pair, rows, week)),
        *(one for pair in pairs for one in _with_baseline(pair, rows, week, pinned)),
        *(one for pair in pairs for one in _with_its_past(pair, rows, now, week, keep)),
    ][:AT_ONCE]
    groups = [one for pair in pairs for one in _of_cohorts(pair, rows, week)]
    return [*found, *groups[:COHORTS_AT_ONCE]]


def _by_row(held: Collection[Place]) -> Hours:
    rows: dict[Where, list[Place]] = {}
    for place in sorted(held):
        where = place.where
        if where.basis == LIVE and where.lang == ALL:
            rows.setdefault(where, []).append(place)
    return rows


def _of(pair: Pair, rows: Hours, group: str = ALL) -> Sequence[Place]:
    return rows.get(Where(*pair, ALL, group, LIVE), ())


def _from(places: Sequence[Place], since: datetime) -> tuple[Place, ...]:
    return tuple(place for place in places if place.hour >= since)


def _with_production(pair: Pair, rows: Hours, week: datetime) -> Iterator[Comparison]:
    current = _from(_of(pair, rows), week)
    if pair[0] != Track.CANARY.value or not current:
        return
    hours = {place.hour for place in current}
    production = [
        place
        for where, places in rows.items()
        if where.track == Track.PRODUCTION.value and where.state == ALL
        for place in places
        if place.hour in hours
    ]
    name = Name(Against.STABLE, *pair, current[0].hour)
    yield Comparison(name, current, tuple(sorted(production)))


def _with_baseline(
    pair: Pair, rows: Hours, week: datetime, pinned: Sequence[Baseline]
) -> Iterator[Comparison]:
    baseline = next((one for one in pinned if one.track == pair[0] and one.basis in (LIVE, None)), None)
    if baseline is None:
        return
    since = week
    if baseline.release == pair[1]:  # what was pinned is not compared with itself
        since = max(week, _next_hour(baseline.until))
    current = _from(_of(pair, rows), since)
    if current:
        name = Name(Against.BASELINE, *pair, current[0].hour, baseline.name)
        yield Comparison(name, current, pinned=baseline)


def _with_its_past(
    pair: Pair, rows: Hours, now: datetime, week: datetime, keep: timedelta
) -> Iterator[Comparison]:
    """With its first week; once that goes, with the oldest one that is kept to the end of this week."""
    known = _from(_of(pair, rows), _next_hour(week + WEEK - keep))
    if not known or pair[1] == OTHER:
        return
    begun = known[0].hour
    if begun + WEEK > now:
        return
    reference = tuple(place for place in known if begun <= place.hour < begun + WEEK)
    current = _from(known, max(week, begun + WEEK))
    if reference and current:
        name = Name(Against.PAST, *pair, current[0].hour, begun.isoformat())
        yield Comparison(name, current, reference)


def _of_cohorts(pair: Pair, rows: Hours, week: datetime) -> Iterator[Comparison]:
    terse, outpouring = (_from(_of(pair, rows, group), week) for group in COHORTS)
    if terse and outpouring:
        since = min(terse[0].hour, outpouring[0].hour)
        yield Comparison(Name(Against.COHORTS, *pair, since), terse, outpouring)


def _next_hour(at: datetime) -> datetime:
    whole = hour_of(at)
    return whole if whole == at else whole + HOUR
