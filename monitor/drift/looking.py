"""The elected worker's comparisons of styles: read what is new of the hours, compare beside everything else, show the gauges."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np
import structlog
from prometheus_client import Metric

from detectors.drift import packing
from detectors.drift.sketch import StyleSketch, merge_all
from monitor.adding import Aside
from monitor.drift.gauges import gauges
from monitor.drift.growing import Found, Growth, Sides
from monitor.drift.plan import Comparison, Name, Pair, planned
from monitor.figures import Rows, newest
from monitor.tally.cell import HOUR, hour_of
from monitor.tally.hours import Hour, Place
from monitor.tally.names import Kind, name
from monitor.tally.ports import Tallies

if TYPE_CHECKING:
    from monitor.store.baselines import Baseline, Baselines

_log = structlog.get_logger(__name__)

LOOK: Final = timedelta(seconds=55)  # so often at most
DEEP: Final = timedelta(minutes=10)
AFTER: Final = HOUR  # an hour that ended so long ago changes no more
ROWS: Final = 200  # hours' rows read anew in one look: whoever is newly elected catches up over minutes
_REPLIES: Final = name(Kind.TURN, "assistant")


@dataclass(frozen=True, slots=True)
class Step:
    """What one comparison is given in a look: hours that are over, and those that are not, each with its rows."""

    comparison: Comparison
    over: Sequence[Sequence[Place]]
    open: Sequence[Sequence[Place]]


class Comparisons:
    """A ``monitor.publisher.MoreFigures``. ``keep``: how long hours are kept; ``spent`` is told CPU seconds.

    ``deep``: so often there are p-values and an energy distance, which take a hundred times as long as the rest.
    """

    def __init__(
        self,
        tallies: Tallies,
        baselines: Baselines,
        keep: timedelta,
        spent: Callable[[float], None] = lambda _: None,
        *,
        deep: timedelta = DEEP,
        aside: Aside = asyncio.to_thread,
    ) -> None:
        self._tallies = tallies
        self._baselines = baselines
        self._keep = keep
        self._spent = spent
        self._every = deep
        self._aside = aside
        self._held: set[Place] = set()
        self._asked: datetime | None = None
        self._looked: datetime | None = None
        self._deep: datetime | None = None
        self._growing: dict[Name, Growth] = {}
        self._shown: Sequence[Metric] = ()

    async def look(self, now: datetime, rows: Rows) -> Sequence[Metric]:
        if self._looked is not None and now - self._looked < LOOK:
            return self._shown
        await self._hear_of(now)
        pinned = await self._baselines.baselines()
        heard = _heard(rows)
        held = frozenset(self._held)
        wanted, steps = await self._aside(lambda: self._prepared(now, held, heard, pinned))
        found = await self._tallies.hours(wanted)
        deep = self._deep is None or now - self._deep >= self._every
        self._shown = await self._aside(lambda: self._compared(steps, found, now if deep else None))
        self._looked = now
        self._deep = now if deep else self._deep
        return self._shown

    async def _hear_of(self, now: datetime) -> None:
        """Which rows hold styles: all of them once, then what may have come since."""
        oldest = hour_of(now - self._keep)
        since = oldest if self._asked is None else max(oldest, hour_of(self._asked) - AFTER - HOUR)
        self._held |= set(await self._tallies.sketched(since))
        self._held = {place for place in self._held if place.hour >= oldest}
        self._asked = now

    def _prepared(
        self,
        now: datetime,
        held: frozenset[Place],
        heard: Mapping[Pair, int],
        pinned: Sequence[Baseline],
    ) -> tuple[set[Place], list[Step]]:
        """In a thread, as thousands of rows are kept."""
        comparisons = planned(now, held, heard, pinned, self._keep)
        growing = {one.name: self._growing.get(one.name) or Growth(one) for one in comparisons}
        self._growing = growing
        left, wanted, steps = ROWS, set[Place](), []
        for one in comparisons:
            step = _step(one, growing[one.name].done, now, left)
            fresh = {place for hour in (*step.over, *step.open) for place in hour} - wanted
            left -= len(fresh)
            wanted |= fresh
            steps.append(step)
        return wanted, steps

    def _compared(
        self, steps: Sequence[Step], rows: Mapping[Place, Hour], deep: datetime | None
    ) -> Sequence[Metric]:
        begun = time.thread_time()
        read = {place: _read(hour.style) for place, hour in rows.items() if hour.style}
        found = [self._one(step, read, deep) for step in steps]
        self._spent(max(time.thread_time() - begun, 0.0))
        return gauges(found)

    def _one(self, step: Step, read: Mapping[Place, StyleSketch], deep: datetime | None) -> Found:
        growth = self._growing[step.comparison.name]
        for hour in step.over:
            growth.add(hour, _sides(step.comparison, hour, read), look=hour is not step.over[-1])
        chance = None if deep is None else np.random.default_rng(int(deep.timestamp()))
        return growth.look([_sides(step.comparison, hour, read) for hour in step.open], chance)


def _step(comparison: Comparison, done: set[Place], now: datetime, left: int) -> Step:
    """The hours that are missing, in their order. Beyond ``left`` rows the rest comes at the next look, and what is open after it."""
    missing = sorted(place for place in (*comparison.current, *comparison.reference) if place not in done)
    hours = [tuple(some) for _, some in groupby(missing, key=lambda place: place.hour)]
    over = [some for some in hours if some[0].hour + HOUR + AFTER <= now]
    for count, some in enumerate(over):
        left -= len(some)
        if left < 0:
            return Step(comparison, over[:count], ())
    return Step(comparison, over, hours[len(over) :])


def _sides(comparison: Comparison, hour: Sequence[Place], read: Mapping[Place, StyleSketch]) -> Sides:
    current = set(comparison.current)
    mine = [read[place] for place in hour if place in current and place in read]
    theirs = [read[place] for place in hour if place not in current and place in read]
    return Sides(_merged(mine), _merged(theirs))


def _merged(sketches: Sequence[StyleSketch]) -> StyleSketch:
    """Of releases beside each other; in the hour of an upgrade, those of the model that is newest in the list."""
    model = next((one.model for one in reversed(sketches) if one.model), "")
    return merge_all([one for one in sketches if one.model in ("", model)])


def _read(style: bytes) -> StyleSketch:
    try:
        return packing.unpack(style)
    except packing.SketchError as error:
        _log.error("hour_of_styles_not_read", problem=str(error))
        return StyleSketch()


def _heard(rows: Rows) -> dict[Pair, int]:
    """Replies in the window, of the releases that are shown."""
    heard = dict.fromkeys(newest(rows), 0)
    for place, cell in rows:
        pair = (place.where.track, place.where.release)
        if pair in heard:
            heard[pair] += cell.counts.get(_REPLIES, 0)
    return heard
