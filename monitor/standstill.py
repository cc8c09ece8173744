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
    BROKER_SILENT = "broker_silent"  # in the group, and no answer to what is asked
    SOURCE_STUCK = "source_stuck"  # the loop that minds the client has stopped
    BATCH_HANGS = "batch_hangs"
    BATCHES_FAIL = "batches_fail"  # one after another
    DOES_NOT_ADVANCE = "does_not_advance"  # records wait, nobody takes them


@dataclass(frozen=True, slots=True)
class Standstill:
    cause: Cause
    since: datetime


class ReadingWatch:
    """Call ``look`` every second or so. Nothing to read is no standstill; a line that was stopped has a page of its own."""

    def __init__(self, limit: timedelta = LIMIT) -> None:
        self._limit = limit
        self._seen: dict[Cause | Partition, datetime] = {}
        self._positions: dict[Partition, int] = {}

    def look(self, progress: Progress, now: datetime, awake: datetime | None = None) -> Standstill | None:
        """Return the longest standstill that has lasted for the limit. ``awake``: since when we have not stood still."""
        found = [(cause, since_awake(since, awake)) for cause, since in self._troubles(progress, now)]
        present = {cause for cause, _ in found}
        self._seen = {
            what: since for what, since in self._seen.items() if what in present or what in self._positions
        }
        worst = min(found, key=lambda one: one[1], default=None)
        if worst is None or now - worst[1] < self._limit:
            return None
        return Standstill(*worst)

    def _troubles(self, progress: Progress, now: datetime) -> Iterator[tuple[Cause, datetime]]:
        if progress.state is SourceState.CONNECTING:
            yield Cause.BROKER_AWAY, self._since(Cause.BROKER_AWAY, now)
        if progress.state is not SourceState.JOINED:
            self._positions = {}
            return
        if progress.silent(now, SILENT):
            yield Cause.BROKER_SILENT, self._since(Cause.BROKER_SILENT, now - SILENT)
        if progress.looked is not None and now - progress.looked > SILENT:
            yield Cause.SOURCE_STUCK, progress.looked
        if progress.handling_since is not None:
            yield Cause.BATCH_HANGS, progress.handling_since
        if progress.failures:
            yield Cause.BATCHES_FAIL, self._since(Cause.BATCHES_FAIL, now)
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
                self._seen[partition] = now
            yield Cause.DOES_NOT_ADVANCE, self._since(partition, now)
        self._positions = waiting

    def _since(self, what: Cause | Partition, now: datetime) -> datetime:
        return self._seen.setdefault(what, now)
