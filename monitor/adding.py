"""Adding up tallies: out of the queue, into the hours, in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from monitor.tally.cell import Cell, Style, Tally
from monitor.tally.codec import tally_of_json
from monitor.tally.hours import FoldStyle, Hour, Pairs, Place, folded, gathered
from monitor.tally.ports import Tallies

T = TypeVar("T")

AT_ONCE = 200  # tallies of one transaction


class Aside(Protocol):
    """Does CPU work beside the event loop: ``asyncio.to_thread``."""

    async def __call__(self, work: Callable[[], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Added:
    """``unread``: tallies that nobody can read, which are gone. ``style_seconds`` of CPU."""

    taken: int
    unread: int = 0
    style_seconds: float = 0.0


async def add_up(tallies: Tallies, term: int, fold_style: FoldStyle | None, aside: Aside) -> Added | None:
    """Add up the oldest tallies. None if another worker is elected by now: then nothing was written.

    The queue is read before the hours. So of a transaction of ours that was given up and stands after all, either its tallies
    are missed in time, or its hours are read.
    """
    taken = await tallies.take(AT_ONCE)
    if not taken:
        return Added(0)
    read = await aside(lambda: _read([body for _, body in taken]))
    pairs = await tallies.pairs({tally.hour for tally in read})
    cells, styles = await aside(lambda: _gathered(read, pairs, keep_styles=fold_style is not None))
    before = await tallies.hours([*cells, *(place for place in styles if place not in cells)])
    after, seconds = await aside(lambda: _folded(cells, styles, before, fold_style))
    if not await tallies.fold(term, [one for one, _ in taken], after):
        return None
    return Added(len(taken), len(taken) - len(read), seconds)


def _read(bodies: Sequence[str]) -> list[Tally]:
    read = []
    for body in bodies:
        try:
            read.append(tally_of_json(body))
        except ValueError:
            continue
    return read


def _gathered(
    read: Sequence[Tally], pairs: Pairs, *, keep_styles: bool
) -> tuple[dict[Place, Cell], dict[Place, list[Style]]]:
    cells, styles = gathered(read, pairs)
    return cells, styles if keep_styles else {}


def _folded(
    cells: Mapping[Place, Cell],
    styles: Mapping[Place, Sequence[Style]],
    before: Mapping[Place, Hour],
    fold_style: FoldStyle | None,
) -> tuple[dict[Place, Hour], float]:
    seconds = 0.0

    def timed(stood: bytes | None, found: Sequence[Style]) -> bytes:
        nonlocal seconds
        begun = time.thread_time()
        try:
            return fold_style(stood, found) if fold_style is not None else stood or b""
        finally:
            seconds += time.thread_time() - begun

    return folded(cells, styles, before, timed), seconds
