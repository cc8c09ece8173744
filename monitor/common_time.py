"""One time for all workers, and kept for whoever starts next on this machine.

Two hosts whose clocks are apart would call each other's deadlines due too early or too late, and take leases for over
that are not. So all go by the database server's clock, and by one row beside it that says how far their time is from it:
0, until that clock is set while they run. Whoever sees it leap first writes the leap into the row, compare-and-set, and
time goes on as it went for everybody, those included that start later. From there it is drawn to the database's clock.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import structlog

from monitor.clock import JUMP, SLEW, SteadyClock
from monitor.errors import StoreError
from monitor.store.shared_time import Agreed, Told

_log = structlog.get_logger(__name__)

LOOK = timedelta(seconds=5)
QUESTIONS = 5  # at the start
# A process that starts so soon after another goes on in its time: the machine's clock may have been set in between.
FRESH = 600.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LONGEST_QUESTION = 0.5  # seconds; an answer that took longer says too little about now
_JUMP = timedelta(seconds=JUMP)
_AGAIN = LOOK / 2  # what another worker found right so lately need not be written again
_NOTHING = timedelta(0)


class TimeSource(Protocol):
    async def time(self) -> Told | None:
        """The database's own; None where it has none, being on this machine. Raises StoreUnavailable."""
        ...

    async def agree(self, before: Agreed | None, after: Agreed) -> bool:
        """Write what the workers agree upon if it still is what it was. Raises StoreUnavailable."""
        ...


class Seen(StrEnum):
    """What a look shows, beside what was to be expected after the look before."""

    AS_EXPECTED = "as_expected"
    AGREED_OTHERWISE = "agreed_otherwise"  # another worker saw what we did not: it is not fought over
    CLOCK_SET = "clock_set"  # the database's was, for everybody
    STOOD_STILL = "stood_still"  # we did: this machine was paused, and its own clocks with it


def common(told: Told) -> datetime:
    """The workers' time. What it is off by goes at the pace of a clock that is drawn to another."""
    return told.database + ahead(told)


def ahead(told: Told) -> timedelta:
    if told.agreed is None:
        return _NOTHING
    gone = max(told.database - told.agreed.at, _NOTHING) * SLEW
    off = told.agreed.ahead
    return max(off - gone, _NOTHING) if off > _NOTHING else min(off + gone, _NOTHING)


def seen(expected: Told, told: Told) -> Seen:
    """``expected``: what the database should say by now.

    Others write every few seconds that all is right: if they did since, by the database's clock, then that was not set.
    Nothing but a set clock makes time stand below what was expected. Of one worker alone nobody can tell; then time goes
    on as it went.
    """
    leap = common(told) - common(expected)
    if abs(leap) < _JUMP:
        return Seen.AS_EXPECTED
    if told.agreed is not None:
        # What was agreed before would be this much by the same clock.
        as_before = ahead(replace(told, agreed=expected.agreed))
        if abs(ahead(told) - as_before) >= _JUMP:
            return Seen.AGREED_OTHERWISE
        if _NOTHING <= told.database - told.agreed.at < leap:
            return Seen.STOOD_STILL
    return Seen.CLOCK_SET


class CommonTime:
    """``show`` is told how far our time is ahead of which clock, in seconds; ``looked``, when we looked last."""

    def __init__(
        self,
        clock: SteadyClock,
        source: TimeSource,
        file: Path,
        *,
        show: Callable[[str, float], None] = lambda _clock, _seconds: None,
        looked: Callable[[datetime], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._source = source
        self._file = file
        self._show = show
        self._looked = looked
        self._before: tuple[Told, float] | None = None  # and when it was told
        self._running = False

    async def begin(self) -> None:
        """Find out what time it is, before anything is decided."""
        answers = [answer for _ in range(QUESTIONS) if (answer := await self._ask()) is not None]
        if answers:
            _, told, when = min(answers, key=lambda one: one[0])  # the quickest answer says most about now
            self._adopt(told, when)
            return
        kept = self._kept()
        if kept is not None:
            self._clock.begin_at(kept)

    async def run(self) -> None:
        while True:
            await self.look()
            self._keep()
            self._looked(self._clock.now())
            await self._clock.sleep(LOOK)

    async def look(self) -> None:
        """Hear what time it is for all, and see to it that it goes on as it went."""
        answer = await self._ask()
        if answer is not None:
            await self._hear(*answer[1:])
        elif self._before is not None:  # on the same way back to the right time as whoever starts afterwards
            when = self._clock.elapsed()
            self._clock.heard(common(self._expected(*self._before, when)), when)
        self._show("machine", self._clock.ahead_of_machine)

    async def _hear(self, told: Told, when: float) -> None:
        first, self._running = not self._running, True
        what = Seen.AS_EXPECTED
        if self._before is None:
            self._adopt(told, when)  # nobody could be asked at the start
        else:
            expected = self._expected(*self._before, when)
            what, leap = seen(expected, told), common(told) - common(expected)
            if what is Seen.CLOCK_SET:
                await self._set(told, when, leap)
            elif what is Seen.AGREED_OTHERWISE and first:
                self._adopt(
                    told, when
                )  # we began just when the clock was set, and have decided next to nothing
            elif what is Seen.STOOD_STILL:
                # Time did pass, for everybody else: what fell due in it is due.
                _log.warning("clock_stood_still", seconds=round(leap.total_seconds(), 3))
                self._clock.forward(common(told), when)
                self._before = told, when
            else:
                self._clock.heard(common(told), when)
                self._before = told, when
        if what is Seen.AS_EXPECTED:
            await self._confirm(told)
        self._show("database", self._clock.at(when).timestamp() - told.database.timestamp())

    async def _set(self, told: Told, when: float, leap: timedelta) -> None:
        """Time goes on as it went. Who comes second with that reads at the next look what was agreed upon."""
        after = Agreed(ahead(told) - leap, told.database)
        if await self._agree(told, after):
            _log.warning("clock_jumped", clock="database", seconds=round(leap.total_seconds(), 3))
            self._before = replace(told, agreed=after), when

    @staticmethod
    def _expected(before: Told, then: float, when: float) -> Told:
        return replace(before, database=before.database + timedelta(seconds=when - then))

    def _adopt(self, told: Told, when: float) -> None:
        self._clock.heard(common(told), when)
        self._clock.begin_at(common(told).timestamp() - when)
        self._before = told, when

    async def _confirm(self, told: Told) -> None:
        agreed = told.agreed
        if agreed is None or not _NOTHING <= told.database - agreed.at < _AGAIN:
            await self._agree(told, Agreed(ahead(told), told.database))

    async def _agree(self, told: Told, after: Agreed) -> bool:
        try:
            return await self._source.agree(told.agreed, after)
        except StoreError:
            return False

    async def _ask(self) -> tuple[float, Told, float] | None:
        """How long it took, what the database said, and when that was."""
        asked = self._clock.elapsed()
        try:
            told = await self._source.time()
        except StoreError:
            return None
        took = self._clock.elapsed() - asked
        # A slow answer is better than none at all.
        if told is None or (took > _LONGEST_QUESTION and self._before is not None):
            return None
        return took, told, asked + took / 2

    def _keep(self) -> None:
        """A file that cannot be written is missed only by a process that starts while the clock is wrong."""
        beside = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        told = {"boot": _boot(), "offset": self._clock.offset, "at": self._clock.elapsed()}
        with contextlib.suppress(OSError):
            beside.write_text(json.dumps(told), encoding="utf-8")
            beside.replace(self._file)

    def _kept(self) -> float | None:
        try:
            told = json.loads(self._file.read_text(encoding="utf-8"))
            boot, offset, at = told["boot"], float(told["offset"]), float(told["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        fresh = 0 <= self._clock.elapsed() - at <= FRESH
        return offset if boot and boot == _boot() and fresh else None


def _boot() -> str:
    """Tells one start of the machine from another; empty where nothing does."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
