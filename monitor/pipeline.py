"""One batch's way: decode → fold → detect → decide → one transaction → wake the relay. The order is read in ``_through``."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from alerts.canary import is_canary
from alerts.case import Case, advance
from alerts.moment import Moment
from alerts.policy import Policy
from alerts.ports import Clock, Notification
from alerts.watch import exchanges
from detectors.conversation import Conversation
from detectors.finding import Level, UserSignal
from detectors.fold import Folded, Unscored, fold, scored
from monitor.batch import CaseResult, Read, Scored, fresh_of, known_of
from monitor.changes import Paging, count_alike, decided, excerpts_of, turn_finding
from monitor.errors import CaseConflict, PositionConflict, StoreUnavailable, StoreUnwritable
from monitor.observing import observing
from monitor.reading import Reading
from monitor.scoring import Signal
from monitor.sources.record import Committed, Record
from monitor.store.work import Advance, Partition, Store, Work
from monitor.tallying import Tallying
from monitor.unreadable import Instead

CONFLICTS = 20  # attempts to write cases that timers or people write at the same time


@dataclass(frozen=True, slots=True)
class BatchResult:
    read: Read
    cases: tuple[CaseResult, ...]
    notifications: tuple[Notification, ...]
    at: datetime


class Reader(Protocol):
    """Decodes a batch (steps 2 and 3)."""

    def read(self, batch: Sequence[Record], positions: Mapping[Partition, int]) -> Read:
        """Records below their partition's position were processed before and are left out."""
        ...


Through = Callable[[Store, Read, Reading], Awaitable[BatchResult]]


class Lifeboat(Protocol):
    """Takes over while the database is away."""

    @property
    def aboard(self) -> bool:
        """True while the database is away."""
        ...

    async def take(self, read: Read, through: Through, *, readable: bool | None = None) -> None:
        """Decide and page without the database; nothing is committed. ``readable``: it takes no writes only."""
        ...


class Scorer(Protocol):
    """Judges texts (step 4). ``failures`` counts the batches in which some could not be judged as they should."""

    failures: int

    async def score(self, unscored: Sequence[Unscored]) -> Sequence[Signal]:
        """One signal for each, in order."""
        ...


class Observer(Protocol):
    def batch(self, result: BatchResult) -> None:
        """Called once for each batch that is safely written."""
        ...

    def stage(self, name: str, seconds: float) -> None:
        """``name``: read, load, fold, detect, decide or write. Called for attempts that fail, too."""
        ...

    def scorer_failed(self) -> None:
        """Some text of a batch could not be scored. It counts as unscored, and its neighbours go on."""
        ...

    def fenced(self) -> None:
        """A batch was void: somebody else had written on its partition, or writes its cases."""
        ...


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
                folds = _folds(stored, read, reading, now, instead)
            with self._stage("detect"):
                await self._score(folds, signals)
            now = self._clock.now()
            with self._stage("decide"):
                results = self._decide(stored, folds, read, reading, signals, now, instead)
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

    def _decide(
        self,
        stored: Mapping[str, Case],
        folds: Mapping[str, Folded],
        read: Read,
        reading: Reading,
        signals: Scored,
        now: datetime,
        instead: Instead,
    ) -> list[CaseResult]:
        """One result for each conversation, but for those about which nobody can decide: ``instead`` has what stands for them."""
        newest = read.newest
        results = []
        for conversation, folded in folds.items():
            found = {item.entry: signals[conversation, item.entry][1] for item in folded.unscored}
            before = _case(stored, conversation)
            partition = read.partition_of[conversation]
            moment = reading.moment(partition, now, newest.get(partition))
            try:
                results.append(_result(before, folded, found, moment, self._paging.policy))
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others go on
                instead.add(before, error, now)
        return results

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


def _folds(
    stored: dict[str, Case], read: Read, reading: Reading, now: datetime, instead: Instead
) -> dict[str, Folded]:
    """``stored`` is given what stands for a case that cannot be folded."""
    live = {place: reading.live(place, now) for place in set(read.partition_of.values())}
    folds = {}
    for conversation, turns in read.turns.items():
        case, now_live = _case(stored, conversation), live[read.partition_of[conversation]]
        try:
            folds[conversation] = fold(case.conversation, turns, now, live=now_live)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others go on
            stored[conversation] = case = instead.add(case, error, now)
            folds[conversation] = fold(case.conversation, turns, now, live=now_live)
    return folds


def _result(
    before: Case, folded: Folded, found: Mapping[str, Signal], moment: Moment, policy: Policy
) -> CaseResult:
    case = replace(before, conversation=scored(folded.conversation, dict(found)))
    spoken = tuple(exchanges(case.conversation))
    advanced = advance(case, moment, policy)
    fresh, known = fresh_of(case, found, spoken), known_of(before, found)
    old = {entry.event for entry in before.conversation.entries}
    arrived = tuple(entry for entry in case.conversation.entries if entry.event not in old)
    return CaseResult(advanced, fresh, known, folded.repeats, spoken, before.conversation, arrived)


def _places(batch: Sequence[Record]) -> set[Partition]:
    return {record.partition for record in batch}


def _person(read: Read, conversation: str) -> str | None:
    """Whom the newest turn that names somebody names."""
    return next((turn.user for turn in reversed(read.turns[conversation]) if turn.user is not None), None)


def _case(stored: Mapping[str, Case], conversation: str) -> Case:
    return stored.get(conversation) or Case(Conversation(conversation))
