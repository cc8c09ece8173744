"""What has been tallied, added up by a publisher on a clock that a test moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from prometheus_client import Metric

from alerts.ports import Clock
from monitor.publisher import Publisher, Publishing
from monitor.tally.cell import Cell, Where, merged
from monitor.tally.ports import Tallies
from tests.support.fake_clock import EPOCH

T = TypeVar("T")

LONG_AGO = EPOCH.replace(hour=0) - timedelta(days=30)


class Watched:
    """What a publisher reports."""

    def __init__(self) -> None:
        self.failed = 0

    def tally_failed(self, count: int = 1) -> None:
        self.failed += count

    def style_worked(self, seconds: float) -> None:
        """Nothing is measured here."""


async def at_once(work: Callable[[], T]) -> T:
    return work()


def a_publisher(
    tallies: Tallies,
    clock: Clock,
    name: str = "one",
    publishing: Publishing | None = None,
    looked: Callable[[datetime], None] = lambda _: None,
) -> Publisher:
    return Publisher(
        tallies,
        clock,
        lambda: clock.now().timestamp() - 1e9,
        name,
        Watched(),
        publishing,
        looked=looked,
        aside=at_once,
    )


def values(shown: Publisher, name: str, **labels: str) -> list[float]:
    """Of the samples of this name that have these labels."""
    metrics: list[Metric] = list(shown.collect())
    return [
        sample.value
        for metric in metrics
        for sample in metric.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]


async def cells(tallies: Tallies) -> dict[Where, Cell]:
    """What was added up, over all hours."""
    found: dict[Where, list[Cell]] = {}
    for place, cell in await tallies.since(LONG_AGO):
        found.setdefault(place.where, []).append(cell)
    return {where: merged(some) for where, some in found.items()}


async def counted(tallies: Tallies) -> Counter[str]:
    return merged((await cells(tallies)).values()).counts
