"""What ``jiezhu compare`` and ``jiezhu baseline`` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from monitor.baselines import Baseline
from monitor.clock import SystemClock
from monitor.commands import open_store
from monitor.errors import ConfigurationError, JiezhuError
from monitor.releases.comparison import Comparison, compare_sides
from monitor.releases.models import models_of
from monitor.releases.reading import (
    Span,
    baseline_of,
    named,
    newest_release,
    read_side,
    side_of_baseline,
    span_of,
)
from monitor.releases.record import record_of_baseline
from monitor.settings import Settings
from monitor.store.tallies import SqlTallies

WEEK: Final = timedelta(days=7)
KEPT: Final = timedelta(days=400)  # hours are kept no longer than this by any setting
_SEED: Final = 20260  # of the permutations: the same figures give the same report


@dataclass(frozen=True, slots=True)
class Asked:
    """The hours that are asked for, as given on the command line."""

    since: str | None = None
    until: str | None = None
    hours: float | None = None

    def span(self, now: datetime, usual: timedelta = WEEK) -> Span:
        """Raises ``ConfigurationError``, which names the option."""
        if self.hours is not None and self.since is not None:
            raise ConfigurationError("--hours", "says the same as --since; give one of them")
        until = _moment("--until", self.until) if self.until else now
        length = timedelta(hours=self.hours) if self.hours is not None else usual
        since = _moment("--since", self.since) if self.since else until - length
        if since >= until:
            raise ConfigurationError("--since", "is not before --until, or lies ahead; give an earlier time")
        if until - since > KEPT:
            raise ConfigurationError(
                "--since", f"goes back further than {KEPT.days} days; hours are not kept so long"
            )
        return span_of(since, until)


async def compare_releases(
    settings: Settings, releases: tuple[str, str], tracks: tuple[str | None, str | None], asked: Asked
) -> Comparison:
    span = asked.span(SystemClock().now())
    async with open_store(settings) as store:
        tallies = SqlTallies(store.database)
        sides = [
            await read_side(tallies, release, track, span)
            for release, track in zip(releases, tracks, strict=True)
        ]
    return compare_sides(sides[0], sides[1], np.random.default_rng(_SEED))


async def pin(
    settings: Settings, release: str, track: str | None, name: str | None, asked: Asked
) -> dict[str, Any]:
    now = SystemClock().now()
    span = asked.span(now, KEPT)
    chosen = release if name is None else name
    if not chosen.strip():
        raise ConfigurationError("--name", "is empty; give the baseline a name")
    async with open_store(settings) as store:
        side = await read_side(SqlTallies(store.database), release, track, span)
        baseline = baseline_of(chosen, side, models_of(settings.encoder.source, settings.encoder.engine), now)
        if not await store.pin_baseline(baseline):
            raise JiezhuError(f"baseline {chosen[:64]!r} is pinned already, and stays: give another --name")
    return record_of_baseline(baseline, side.replies)


async def baselines(settings: Settings) -> Sequence[dict[str, Any]]:
    async with open_store(settings) as store:
        found = await store.baselines()
    return [record_of_baseline(one, _replies(one)) for one in found]


def _replies(baseline: Baseline) -> int | None:
    """None for one that cannot be read: it is listed with the others, or nobody would know its name."""
    try:
        return side_of_baseline(baseline).replies
    except JiezhuError:
        return None


async def diff(
    settings: Settings, name: str, release: str | None, other: str | None, track: str | None, asked: Asked
) -> Comparison:
    """The baseline is the reference; the current side is a release, another baseline, or else what its track runs now."""
    if other is not None and release is not None:
        raise ConfigurationError("--baseline", "stands in place of RELEASE; give one of them")
    now = SystemClock().now()
    async with open_store(settings) as store:
        pinned = await store.baselines()
        baseline = named(pinned, name)
        if other is not None:
            current = side_of_baseline(named(pinned, other))
        else:
            span = asked.span(now)
            tallies = SqlTallies(store.database)
            if release is None:
                track = track or baseline.track
                release = await newest_release(tallies, track, span)
            side = await read_side(tallies, release, track, span)
            current = replace(side, models=models_of(settings.encoder.source, settings.encoder.engine))
    return compare_sides(side_of_baseline(baseline), current, np.random.default_rng(_SEED))


def _moment(option: str, given: str) -> datetime:
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise ConfigurationError(option, "is no time; give one as 2026-11-30 or 2026-11-30T14:00") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
