"""One batch's way: decode → fold → detect → decide → one transaction → wake the relay. The order is read in ``_through``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from alerts.canary import is_canary
from alerts.ports import Clock
from detectors.finding import Level, UserSignal
from detectors.fold import Folded
from monitor.batch import BatchResult, CaseResult, Read, Scored
from monitor.changes import Paging, count_alike, decided, excerpts_of, turn_finding
from monitor.deciding import decide, folds_of
from monitor.errors import CaseConflict, PositionConflict, StoreUnavailable, StoreUnwritable
from monitor.observing import observing
from monitor.ports import Lifeboat, Observer, Reader, Scorer
from monitor.reading import Reading
from monitor.sources.record import Committed, Record
from monitor.store.work import Advance, Partition, Store, Work
from monitor.tallying import Tallying
from monitor.unreadable import Instead

CONFLICTS = 20  # attempts to write cases that timers or people write at the same time


class Pipeline:
    """The handler behind a source. Everything it knows is in the store; it may be killed at any point."""

    def __init__(
        self,
        *,
        reader: Reader,
        scoring: Scorer,
        store: Store,
        paging: Paging,
        reading: Reading,
        clock: Clock,
        observer: Observer,
        lifeboat: Lifeboat | None,
        committed: Callable[[BatchResult], None],
        tallying: Tallying | None = None,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._reader = reader
        self._scoring = scoring
        self._store = store
        self._paging = paging
        self._reading = reading
        self._clock = clock
        self._observer = observer
        self._lifeboat = lifeboat
        self._committed = committed
        self._tallying = tallying
        self._timer = timer

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        """Process a batch; return the next offset of each partition.

        While the database is away the batch is decided in memory and reading goes on; the positions in the
        database stand still, and from there everything is read again. Until then nothing of a partition that
        was read ahead may be written, or what lies between would never be read.
        """
        with self._stage("read"):
            read = self._reader.read(batch, self._reading.positions)
        safe = {
            place: self._reading.positions[place] for place in _places(batch) if self._reading.owns(place)
        }
        if not read.reached:
            return safe
        if self._lifeboat is not None and self._lifeboat.aboard:
            await self._lifeboat.take(read, self._through)
            return {**safe, **read.reached}
        if ahead := self._reading.ahead(read.reached.keys()):
            raise PositionConflict(ahead)
        try:
            result = await self._through(self._store, read, self._reading)
        except PositionConflict:
            with observing():
                self._observer.fenced()
            raise
        except StoreUnavailable as error:
            if self._lifeboat is None:
                raise
            readable = isinstance(error, StoreUnwritable)
            await self._lifeboat.take(read, self._through, readable=readable)
        else:
            self._reading.written(read.reached, read.newest, self._clock.now())
            self._tell(result)
        return {**safe, **read.reached}

    def written(self, partition: Partition) -> int:
        return self._reading.positions.get(partition, 0)

    async def assigned(
        self, partitions: Sequence[Partition], committed: Committed
    ) -> Mapping[Partition, int]:
        """Tell where to read on: the database knows. While it is away, what it knew last still holds.

        What was committed to the broker is never ahead of it (``written``). Where it is behind, the first batch that is
        to be written is void, and the database is asked anew.
        """
        try:
            known = await self._store.positions(partitions)
        except StoreUnavailable:
            if new := [partition for partition in partitions if not self._reading.owns(partition)]:
                if self._lifeboat is None:
                    raise
                known = dict(await committed(new))
            else:
                known = {}
            known |= {p: self._reading.positions[p] for p in partitions if self._reading.owns(p)}
        positions = {partition: known.get(partition, 0) for partition in partitions}
        self._reading.assigned(positions)
        return {partition: position for partition, position in positions.items() if partition in known}

    async def began_anew(self, partition: Partition, offset: int) -> None:
        """Move the position back, or every record of the new log below the old position would be left out."""
        expected = self._reading.positions.get(partition, 0)
        await self._store.commit(Work(advances=[Advance(partition, expected, offset)]))
        self._reading.assigned({partition: offset})

    async def revoked(self, partitions: Sequence[Partition]) -> None:
        self._reading.revoked(partitions)

    async def _through(self, store: Store, read: Read, reading: Reading) -> BatchResult:
        signals: Scored = {}
        instead = Instead(self._paging.policy)
        for _ in range(CONFLICTS):
            with self._stage("load"):
                stored = instead.over(await store.cases(list(read.turns)))
            now = self._clock.now()
            with self._stage("fold"):
                folds = folds_of(stored, read, reading, now, instead)
            with self._stage("detect"):
                await self._score(folds, signals)
            now = self._clock.now()
            with self._stage("decide"):
                results = decide(stored, folds, read, reading, signals, now, instead, self._paging.policy)
            if len(results) < len(folds):  # what stands for the others is folded first
                continue
            with self._stage("write"):
                alike = await count_alike(store, (result.advanced for result in results), now)
                work = self._work(read, results, alike, signals)
                if self._tallying is not None and store is self._store:
                    work = replace(work, tally=self._tallying.of_batch(results, now))
                try:
                    await store.commit(work)
                except CaseConflict:
                    continue
            return BatchResult(read, tuple(results), tuple(work.notifications), now)
        raise PositionConflict(frozenset(read.reached))

    async def _score(self, folds: Mapping[str, Folded], signals: Scored) -> None:
        """All texts of the batch in one call. ``signals`` remembers what was scored if this runs again."""
        waiting = [(key, item) for key, folded in folds.items() for item in folded.unscored]
        missing = [
            (k, i) for k, i in waiting if (k, i.entry) not in signals or signals[k, i.entry][0] != i.text
        ]
        before = self._scoring.failures
        found = await self._scoring.score([item for _, item in missing])
        for (key, item), signal in zip(missing, found, strict=True):
            signals[key, item.entry] = (item.text, signal)
        if self._scoring.failures > before:
            with observing():
                self._observer.scorer_failed()

    def _tell(self, result: BatchResult) -> None:
        """The batch is written: whatever those who hear of it do, it must not be read again."""
        for hear in (self._committed, self._observer.batch):
            with observing():
                hear(result)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        begun = self._timer()
        try:
            yield
        finally:
            with observing():
                self._observer.stage(name, self._timer() - begun)

    def _work(
        self, read: Read, results: Sequence[CaseResult], alike: Mapping[str, int], signals: Scored
    ) -> Work:
        work = decided(
            [(r.advanced, read.partition_of[r.advanced.case.conversation.key]) for r in results],
            self._paging,
            alike,
            "jiezhu",
        )
        turns = [
            turn_finding(result.advanced, entry, signal)
            for result in results
            if not is_canary(result.advanced.case.conversation.key)
            for entry, signal in result.fresh
            if isinstance(signal, UserSignal) and signal.level is not Level.NONE
        ]
        return replace(
            work,
            cases=[replace(write, person=_person(read, write.case.conversation.key)) for write in work.cases],
            advances=[
                Advance(partition, self._reading.positions.get(partition, 0), reached)
                for partition, reached in read.reached.items()
            ],
            findings=[*turns, *work.findings],
            excerpts=[e for result in results for e in excerpts_of(result.advanced, signals)],
            dead_letters=read.dead,
        )


def _places(batch: Sequence[Record]) -> set[Partition]:
    return {record.partition for record in batch}


def _person(read: Read, conversation: str) -> str | None:
    """Whom the newest turn that names somebody names."""
    return next((turn.user for turn in reversed(read.turns[conversation]) if turn.user is not None), None)
