"""Adding up tallies: out of the queue, into the hours, in one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from monitor.tally.cell import Cell, Style, Tally
from monitor.tally.codec import tally_of_json
from monitor.tally.hours import FoldStyle, Hour, Pairs, Place, folded, gathered
from monitor.tally.ports import Tallies

T = TypeVar("T")

_log = structlog.get_logger(__name__)

AT_ONCE = 200  # tallies of one transaction


class Aside(Protocol):
    """Does CPU work beside the event loop: ``asyncio.to_thread``."""

    async def __call__(self, work: Callable[[], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Added:
    """``unread``: tallies and hours that nobody can read, which are gone. ``unstyled``: hours whose new styles could not be added up."""

    taken: int
    unread: int = 0
    unstyled: int = 0
    style_seconds: float = 0.0  # of CPU


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
    after, unstyled, seconds = await aside(lambda: _folded(cells, styles, before, fold_style))
    if not await tallies.fold(term, [one for one, _ in taken], after):
        return None
    unread = len(taken) - len(read) + sum(hour.unread for hour in before.values())
    return Added(len(taken), unread, unstyled, seconds)


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
) -> tuple[dict[Place, Hour], int, float]:
    """The hours, how many went without their new styles, and the CPU seconds that styles took.

    A style that breaks takes no counts with it, and keeps no tally behind it waiting.
    """
    unstyled, seconds = 0, 0.0

    def careful(stood: bytes | None, found: Sequence[Style]) -> bytes | None:
        nonlocal unstyled, seconds
        if fold_style is None:
            return stood
        begun = time.thread_time()
        try:
            return fold_style(stood, found)
        except Exception as error:  # noqa: BLE001 - see above
            _log.error("styles_not_added_up", error=type(error).__name__)
            unstyled += 1
            return stood
        finally:
            seconds += time.thread_time() - begun

    after = folded(cells, styles, before, None if fold_style is None else careful)
    return after, unstyled, seconds
