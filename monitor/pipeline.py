"""One batch's way: decode → fold → detect → decide → one transaction → wake the relay. The order is read in ``_through``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from alerts.case import Advanced, Case, advance
from alerts.ports import Clock, Notification
from alerts.watch import Exchange, exchanges
from detectors.conversation import Conversation, Entry
from detectors.finding import Level, UserSignal
from detectors.fold import fold, scored
from detectors.turn import Turn
from monitor.changes import Paging, count_alike, decided, excerpts_of, turn_finding
from monitor.errors import CaseConflict, PositionConflict, StoreUnavailable
from monitor.reading import Reading
from monitor.scoring import Scoring, Signal
from monitor.sources.record import Record
from monitor.store.work import Advance, DeadLetter, Partition, Store, Work

Scored = dict[tuple[str, str], tuple[str, Signal]]
"""By conversation and entry: the text that was scored, and what it says."""

CONFLICTS = 20  # attempts to write cases that timers or people write at the same time


@dataclass(frozen=True, slots=True)
class Read:
    """What a batch held: turns by conversation, dead letters, and how far it reaches."""

    turns: Mapping[str, Sequence[Turn]]
    partition_of: Mapping[str, Partition]
    dead: Sequence[DeadLetter]
    reached: Mapping[Partition, int]  # next offset after this batch
    good: Sequence[bool] = ()  # of each record, in order: could it be read
    unknown_fields: int = 0


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One conversation after a batch: what metrics, log and replay tell about it."""

    advanced: Advanced
    fresh: tuple[tuple[Entry, Signal], ...]  # entries scored in this batch, users' in their context
    repeats: int
    exchanges: tuple[Exchange, ...] = field(repr=False)


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


Through = Callable[["Store", Read], Awaitable["BatchResult"]]


class Lifeboat(Protocol):
    """Takes over while the database is away."""

    async def take(self, read: Read, through: Through) -> None:
        """Decide and page without the database; nothing is committed."""
        ...


class Observer(Protocol):
    def batch(self, result: BatchResult) -> None:
        """Called once for each batch that is safely written."""
        ...

    def stage(self, name: str, seconds: float) -> None: ...


class Pipeline:
    """The handler behind a source. Everything it knows is in the store; it may be killed at any point."""

    def __init__(
        self,
        *,
        reader: Reader,
        scoring: Scoring,
        store: Store,
        paging: Paging,
        reading: Reading,
        clock: Clock,
        observer: Observer,
        lifeboat: Lifeboat | None,
        committed: Callable[[BatchResult], None],
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

    async def handle(self, batch: Sequence[Record]) -> Mapping[Partition, int]:
        """Process a batch; return the next offset of each partition.

        While the database is away the batch is decided in memory and reading goes on; the positions in the
        database stand still, and from there everything is read again.
        """
        read = self._reader.read(batch, self._reading.positions)
        for conversation, turns in read.turns.items():
            self._reading.read(read.partition_of[conversation], turns, self._clock.now())
        try:
            result = await self._through(self._store, read)
        except StoreUnavailable:
            if self._lifeboat is None:
                raise
            await self._lifeboat.take(read, self._through)
            return read.reached
        self._reading.positions.update(read.reached)
        self._committed(result)
        self._observer.batch(result)
        return read.reached

    async def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """Tell where to read on: the database knows."""
        known = await self._store.positions(partitions)
        positions = {partition: known.get(partition, 0) for partition in partitions}
        self._reading.assigned(positions)
        return {partition: position for partition, position in positions.items() if partition in known}

    async def revoked(self, partitions: Sequence[Partition]) -> None:
        self._reading.revoked(partitions)

    async def _through(self, store: Store, read: Read) -> BatchResult:
        signals: Scored = {}
        for _ in range(CONFLICTS):
            stored = await store.cases(list(read.turns))
            results = await self.decide(stored, read, signals)
            now = self._clock.now()
            alike = await count_alike(store, (result.advanced for result in results), now)
            work = self._work(read, results, alike, signals)
            try:
                await store.commit(work)
            except CaseConflict:
                continue
            return BatchResult(read, tuple(results), tuple(work.notifications), now)
        raise PositionConflict(frozenset(read.reached))

    async def decide(
        self,
        stored: Mapping[str, Case],
        read: Read,
        signals: Scored,
    ) -> list[CaseResult]:
        """Fold, detect and decide (steps 4 to 6). ``signals`` remembers what was scored if this runs again."""
        now = self._clock.now()
        folds = {
            conversation: fold(
                (stored.get(conversation) or Case(Conversation(conversation))).conversation, turns, now
            )
            for conversation, turns in read.turns.items()
        }
        waiting = [(key, item) for key, folded in folds.items() for item in folded.unscored]
        missing = [(k, i) for k, i in waiting if signals.get((k, i.entry), ("",))[0] != i.text]
        for (key, item), signal in zip(
            missing, await self._scoring.score([item for _, item in missing]), strict=True
        ):
            signals[key, item.entry] = (item.text, signal)
        results = []
        for conversation, folded in folds.items():
            found = {item.entry: signals[conversation, item.entry][1] for item in folded.unscored}
            case = stored.get(conversation) or Case(Conversation(conversation))
            case = replace(case, conversation=scored(folded.conversation, found))
            moment = self._reading.moment(read.partition_of[conversation], now)
            spoken = tuple(exchanges(case.conversation))
            advanced = advance(case, moment, self._paging.policy)
            results.append(CaseResult(advanced, _fresh(case, found, spoken), folded.repeats, spoken))
        return results

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
            for entry, signal in result.fresh
            if isinstance(signal, UserSignal) and signal.level is not Level.NONE
        ]
        return replace(
            work,
            advances=[
                Advance(partition, self._reading.positions.get(partition, 0), reached)
                for partition, reached in read.reached.items()
            ],
            findings=[*turns, *work.findings],
            excerpts=[e for result in results for e in excerpts_of(result.advanced, signals)],
            dead_letters=read.dead,
        )


def _fresh(
    case: Case, found: Mapping[str, Signal], spoken: Sequence[Exchange]
) -> tuple[tuple[Entry, Signal], ...]:
    in_context = {
        entry.event: signal
        for exchange in spoken
        for entry, signal in zip(exchange.user, exchange.signals, strict=True)
    }
    return tuple(
        (entry, in_context.get(entry.event, found[entry.event]))
        for entry in case.conversation.entries
        if entry.event in found
    )
