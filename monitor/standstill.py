"""Has reading come to a standstill? Judged by what the source shows of itself, as clients can stall silently (R39)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from monitor.awake import since_awake
from monitor.sources.progress import Progress, SourceState
from monitor.store.work import Partition

LIMIT = timedelta(seconds=45)  # so that somebody is called within a minute
SILENT = timedelta(seconds=15)  # the broker answers many times a second


class Cause(StrEnum):
    BROKER_AWAY = "broker_away"  # not in the group
    BROKER_SILENT = "broker_silent"  # connected, and no answer to what is asked
    POSITION_UNKNOWN = (
        "position_unknown"  # a partition is ours, and from where to read it could not be learnt
    )
    SOURCE_STUCK = "source_stuck"  # the loop that minds the client has stopped
    BATCH_HANGS = "batch_hangs"
    BATCHES_FAIL = "batches_fail"  # one after another
    DOES_NOT_ADVANCE = "does_not_advance"  # records wait, nobody takes them


_Trouble = tuple[Cause, Partition | None]


@dataclass(frozen=True, slots=True)
class Standstill:
    cause: Cause
    since: datetime


class ReadingWatch:
    """Call ``look`` every second or so. Nothing to read is no standstill; a line that was stopped has a page of its own.

    A standstill that counted lasts until reading is seen to go on: that its trouble is gone, as when a client that
    heard nothing is built anew, is no proof.
    """

    def __init__(self, limit: timedelta = LIMIT) -> None:
        self._limit = limit
        self._seen: dict[_Trouble, datetime] = {}
        self._positions: dict[Partition, int] = {}
        self._unheard: datetime | None = None  # since when the broker has not been heard
        self._stands: Standstill | None = None

    def look(self, progress: Progress, now: datetime, awake: datetime | None = None) -> Standstill | None:
        """Return the longest standstill that has lasted for the limit. ``awake``: since when we have not stood still."""
        reads = progress.reads(now, SILENT)
        if reads or self._batch_done(progress, now):
            self._unheard = None
        found = [(what, since_awake(since, awake)) for what, since in self._troubles(progress, now)]
        present = {what for what, _ in found}
        self._seen = {what: since for what, since in self._seen.items() if what in present}
        worst = min(found, key=lambda one: one[1], default=None)
        if worst is not None and now - worst[1] >= self._limit:
            (cause, _), since = worst
            self._stands = Standstill(cause, min(since, self._stands.since) if self._stands else since)
        elif reads:
            self._stands = None
        return self._stands

    def _batch_done(self, progress: Progress, now: datetime) -> bool:
        """As good as an answer, unless another partition is not heard of."""
        return (
            self._unheard is not None
            and progress.last_done is not None
            and progress.last_done > self._unheard
            and progress.state is SourceState.JOINED
            and not progress.silent(now, SILENT)
        )

    def _troubles(self, progress: Progress, now: datetime) -> Iterator[tuple[_Trouble, datetime]]:
        yield from self._silence(progress, now)
        if progress.state is not SourceState.JOINED:
            self._positions = {}
            return
        for partition in progress.unknown:
            yield self._lasting(Cause.POSITION_UNKNOWN, now, partition)
        if progress.looked is not None and now - progress.looked > SILENT:
            yield (Cause.SOURCE_STUCK, None), progress.looked
        if progress.handling_since is not None:
            yield (Cause.BATCH_HANGS, None), progress.handling_since
        if progress.failures:
            yield self._lasting(Cause.BATCHES_FAIL, now)
        busy = progress.busy(
            now, SILENT
        )  # then what waits in the client has its turn to come: slow, and on its way
        waiting = {
            partition: known.position
            for partition, known in progress.partitions.items()
            if known.lag and not known.held and not (known.unread and busy)
        }
        for partition, position in waiting.items():
            if self._positions.get(partition) != position:
                self._seen[Cause.DOES_NOT_ADVANCE, partition] = now
            yield self._lasting(Cause.DOES_NOT_ADVANCE, now, partition)
        self._positions = waiting

    def _silence(self, progress: Progress, now: datetime) -> Iterator[tuple[_Trouble, datetime]]:
        if progress.state is SourceState.CONNECTING:
            yield (Cause.BROKER_AWAY, None), self._unheard_since(now)
        if progress.state is not SourceState.JOINED:
            return
        if progress.joining:
            yield (Cause.BROKER_SILENT, None), self._unheard_since(now)
        elif progress.silent(now, SILENT):
            yield (Cause.BROKER_SILENT, None), self._unheard_since(now - SILENT)
        elif self._unheard is not None and any(not known.held for known in progress.partitions.values()):
            # connected anew, and still no answer
            yield (Cause.BROKER_SILENT, None), self._unheard

    def _unheard_since(self, at: datetime) -> datetime:
        if self._unheard is None:
            self._unheard = at
        return self._unheard

    def _lasting(
        self, cause: Cause, now: datetime, partition: Partition | None = None
    ) -> tuple[_Trouble, datetime]:
        what = (cause, partition)
        return what, self._seen.setdefault(what, now)
