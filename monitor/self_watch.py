"""The loop that looks at the worker's own parts: shows their signs of life, and calls somebody when reading stands still.

A part that shows itself here is stuck if its sign grows old; the loops that turn every second show themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts.canary import is_canary
from alerts.page import Kind
from alerts.ports import Clock, Notification
from detectors.finding import Level, UserSignal
from detectors.turn import Role, Turn
from monitor.awake import Awake
from monitor.batch import BatchResult, CaseResult
from monitor.errors import StoreError
from monitor.idleness import DetectorWatch
from monitor.sources.progress import Progress
from monitor.standstill import LIMIT, ReadingWatch, Standstill
from monitor.store.work import Store, Work

_log = structlog.get_logger(__name__)

ROUND = timedelta(seconds=1)
AGAIN = timedelta(minutes=5)  # the same key: the pager folds it, unless somebody closed it meanwhile

Call = Callable[[Standstill, datetime, Kind, int], Notification]


class SignsOfLife(Protocol):
    def alive(self, part: str, now: datetime) -> None: ...


class SelfWatch:
    """``call`` words a page about a standstill: first seen when, now, ring or over, and for the how many-th time."""

    def __init__(
        self,
        *,
        progress: Callable[[], Progress],
        store: Store,
        call: Call,
        written: Callable[[], None],
        clock: Clock,
        signs: SignsOfLife,
    ) -> None:
        self._progress = progress
        self._store = store
        self._call = call
        self._written = written
        self._clock = clock
        self._signs = signs
        self._reading = ReadingWatch()
        self._detector = DetectorWatch()
        self._awake = Awake()
        self._rung: list[tuple[Standstill, datetime]] = []  # for what, and when
        self._untold: list[Notification] = []
        self.standstill: Standstill | None = None
        self.detector_idle = False

    def passed(self, result: BatchResult) -> None:
        """A batch is written. What phrases alone judged counts: that state has alerts of its own.

        A canary shows no more than that its own sentences are judged.
        """
        people = [case for case in result.cases if not is_canary(case.advanced.case.conversation.key)]
        said = sum(_said(case, result.read.turns[case.advanced.case.conversation.key]) for case in people)
        judged = sum(
            signal.level is not Level.UNSCORED or signal.degraded
            for case in people
            for _, signal in case.fresh
            if isinstance(signal, UserSignal)
        )
        self._detector.passed(said, judged, result.at)

    async def run(self) -> None:
        while True:
            await self.look(self._clock.now())
            await self._clock.sleep(ROUND)

    async def look(self, now: datetime) -> None:
        awake = self._awake.look(now)
        self.standstill = self._reading.look(self._progress(), now, awake)
        idle_since = self._detector.idle_since(now, awake)
        self.detector_idle = idle_since is not None
        self._signs.alive("source", self.standstill.since if self.standstill else now)
        self._signs.alive("detector", idle_since or now)
        if awake is None or now - awake >= LIMIT:  # before that nobody knows whether reading goes on
            self._decide(now)
        await self._tell()
        self._awake.looked(self._clock.now())  # a database that hangs is no machine that was suspended
        self._signs.alive("self_watch", now)

    def _decide(self, now: datetime) -> None:
        """Ring at once and again while it lasts; say so when it is over."""
        if self.standstill is None:
            if self._rung:
                _log.info("reading_goes_on")
                first, _ = self._rung[0]
                self._untold.append(self._call(first, now, Kind.RESOLVE, 0))
                self._rung.clear()
        elif not self._rung or now - self._rung[-1][1] >= AGAIN:
            first = self._rung[0][0] if self._rung else self.standstill
            _log.error("reading_stands_still", cause=self.standstill.cause.value)
            self._untold.append(self._call(first, now, Kind.PAGE, len(self._rung)))
            self._rung.append((self.standstill, now))

    async def _tell(self) -> None:
        """While the database is away, what is to be told waits here."""
        if not self._untold:
            return
        try:
            await self._store.commit(Work(notifications=self._untold))
        except StoreError:
            return
        self._untold = []
        self._written()


def _said(case: CaseResult, turns: Sequence[Turn]) -> int:
    """What users said anew. Some of the repeats may be the assistant's."""
    fresh = sum(isinstance(signal, UserSignal) for _, signal in case.fresh)
    return max(fresh, sum(turn.role is Role.USER for turn in turns) - case.repeats)
