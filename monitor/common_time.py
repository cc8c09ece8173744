"""One time for all workers: the database's, looked at now and then, and kept for whoever starts next on this machine.

Two hosts whose clocks are apart would call each other's deadlines due too early or too late, and take leases for over
that are not.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from monitor.clock import SteadyClock
from monitor.errors import StoreError

LOOK = timedelta(seconds=5)
QUESTIONS = 5  # at the start
# A process that starts so soon after another goes on in its time: the machine's clock may have been set in between.
FRESH = 600.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LONGEST_QUESTION = 0.5  # seconds; an answer that took longer says too little about now


class TimeSource(Protocol):
    async def time(self) -> datetime | None:
        """The database's own; None where it has none, being on this machine. Raises StoreUnavailable."""
        ...


class CommonTime:
    def __init__(
        self,
        clock: SteadyClock,
        source: TimeSource,
        file: Path,
        looked: Callable[[datetime], None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._source = source
        self._file = file
        self._looked = looked

    async def begin(self) -> None:
        """Find out what time it is, before anything is decided."""
        answers = [answer for _ in range(QUESTIONS) if (answer := await self._ask()) is not None]
        shared = min(answers, default=None)  # the quickest answer says most about now
        if shared is not None:
            self._clock.heard(*shared[1:])
        kept = self._kept()
        if kept is not None:
            self._clock.begin_at(kept)
        elif shared is not None:
            self._clock.begin_at(shared[1].timestamp() - shared[2])

    async def run(self) -> None:
        while True:
            answer = await self._ask()
            if answer is not None:
                self._clock.heard(*answer[1:])
            self._keep()
            self._looked(self._clock.now())
            await self._clock.sleep(LOOK)

    async def _ask(self) -> tuple[float, datetime, float] | None:
        """How long it took, the database's time, and when that was."""
        asked = self._clock.elapsed()
        try:
            at = await self._source.time()
        except StoreError:
            return None
        took = self._clock.elapsed() - asked
        if at is None or took > _LONGEST_QUESTION:
            return None
        return took, at, asked + took / 2

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
