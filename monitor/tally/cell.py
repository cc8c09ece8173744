"""What is added up: whole numbers only, so that it comes to the same in whatever order and by however many workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from monitor.tally.sketch import Sketch, bucket_of

THOUSAND: Final = 1000  # marks are added up in thousandths
HOUR: Final = timedelta(hours=1)


class State(StrEnum):
    """The user's, at the turn that a figure is of; ``NONE`` also where it is of no single turn."""

    NONE = "none"
    DISTRESSED = "distressed"
    CRISIS = "crisis"


class Where(NamedTuple):
    """What a figure is of. All but ``release`` are from short lists."""

    track: str
    release: str
    lang: str
    state: str
    basis: str


@dataclass(slots=True)
class Marks:
    """``total`` in thousandths, ``squares`` in millionths."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def merge(self, other: Marks) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares


@dataclass(slots=True)
class Cell:
    """``counts`` by name (``names``), ``marks`` by scale and dimension, ``latency`` in buckets (``sketch``)."""

    counts: Counter[str] = field(default_factory=Counter)
    marks: dict[str, Marks] = field(default_factory=dict)
    latency: Sketch = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(self.counts.values()) or bool(self.marks or self.latency)

    def mark(self, name: str, value: float) -> None:
        whole = round(value * THOUSAND)
        self.marks.setdefault(name, Marks()).merge(Marks(1, whole, whole * whole))

    def took(self, milliseconds: float) -> None:
        bucket = bucket_of(milliseconds)
        self.latency[bucket] = self.latency.get(bucket, 0) + 1

    def merge(self, other: Cell) -> None:
        self.counts.update(other.counts)
        for name, marks in other.marks.items():
            self.marks.setdefault(name, Marks()).merge(marks)
        for bucket, count in other.latency.items():
            self.latency[bucket] = self.latency.get(bucket, 0) + count


@dataclass(frozen=True, slots=True)
class Style:
    """The style of one judged reply, for whoever compares styles; nothing here reads it.

    ``level`` and ``distress`` (0-1) are the user's at the turn that is answered, ``lang`` is the reply's; ``style`` and
    ``memory`` are the signal's own; ``earlier`` counts the replies of its release before it that are at hand. It names nobody:
    ``conversation`` and ``mark`` (the reply's) are 64 bits of keyed hashes, other ones each hour (``monitor.tally.styles``).
    """

    state: str
    level: str
    distress: float
    lang: str
    style: str = field(repr=False)
    memory: str = field(repr=False)
    cohort: str = ""
    phrases: tuple[str, ...] = ()
    earlier: int = 0
    conversation: int = 0
    mark: int = 0


@dataclass(slots=True)
class Tally:
    """What one batch adds. It holds counts and styles: no text, no id, no pseudonym."""

    hour: datetime
    cells: dict[Where, Cell] = field(default_factory=dict)
    styles: list[tuple[Where, Style]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(self.cells.values()) or bool(self.styles)

    def at(self, where: Where) -> Cell:
        return self.cells.setdefault(where, Cell())


def hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def merged(cells: Iterable[Cell]) -> Cell:
    whole = Cell()
    for cell in cells:
        whole.merge(cell)
    return whole
