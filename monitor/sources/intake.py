"""One consumer's partitions: takes batches, hands them on, commits what is safe, goes back over what is not.

The lock is held from a batch's arrival to its commit. A rebalance waits for it, so that partitions are never
given away with a batch in hand; what arrives of an older assignment afterwards is dropped (M1, R37).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Protocol

import structlog
from aiokafka import ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaConnectionError, KafkaError

from monitor.errors import LineStopped, PositionConflict
from monitor.sources.backoff import Backoff
from monitor.sources.holds import Holds
from monitor.sources.parsing import convert_records
from monitor.sources.progress import PartitionProgress
from monitor.sources.record import Handler
from monitor.sources.unreadable import stand_in
from monitor.store.work import Partition

BEHIND_SECONDS = 5  # a new leader may tell a lower end for a moment (KIP-207)
RETRY = "retry"
LINE_STOPPED = "line_stopped"

_log = structlog.get_logger(__name__)


class Consumer(Protocol):
    """What is used of an aiokafka consumer."""

    def assignment(self) -> set[TopicPartition]: ...

    def pause(self, *partitions: TopicPartition) -> None: ...

    def resume(self, *partitions: TopicPartition) -> None: ...

    def seek(self, partition: TopicPartition, offset: int) -> None: ...

    async def position(self, partition: TopicPartition) -> int: ...

    async def beginning_offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]: ...

    def highwater(self, partition: TopicPartition) -> int | None: ...

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None: ...

    async def commit(self, offsets: dict[TopicPartition, int]) -> None: ...

    async def committed(self, partition: TopicPartition) -> int | None: ...


class Intake(ConsumerRebalanceListener):  # type: ignore[misc]
    """Ends with its consumer; ``holds`` and ``handler`` outlive it."""

    def __init__(
        self,
        handler: Handler,
        holds: Holds,
        backoff: Backoff,
        *,
        now: Callable[[], datetime],
        commit_seconds: float,
    ) -> None:
        self._handler = handler
        self._holds = holds
        self._backoff = backoff
        self._now = now
        self._commit_seconds = commit_seconds
        self._consumer: Callable[[], Consumer | None] = lambda: None
        self._lock = asyncio.Lock()
        self._epoch = 0  # of the assignment
        self._next: dict[TopicPartition, int] = {}  # of the partitions that are ours and may be read
        self._since: dict[TopicPartition, datetime] = {}
        self._failures: dict[TopicPartition, int] = {}
        self._stuck: dict[
            TopicPartition, datetime
        ] = {}  # since when it is held or fails, with nothing handled meanwhile
        self._behind: dict[TopicPartition, datetime] = {}  # since when the log ends below our position
        self._polled: dict[
            TopicPartition, tuple[int, datetime]
        ] = {}  # the client's stamp, and when we saw it first
        self._in_hand: frozenset[TopicPartition] = frozenset()
        self._taken: dict[
            TopicPartition, int | None
        ] = {}  # the client's stamp when a batch held records of it
        self._timers: set[asyncio.TimerHandle] = set()
        self._assigned = False
        self._takeovers: set[asyncio.Task[None]] = set()
        self.last_record: datetime | None = None
        self.last_done: datetime | None = None
        self.handling_since: datetime | None = None
        self.resets = 0
        self.lost = 0
        self.unreadable = 0

    def attach(self, consumer: Callable[[], Consumer | None]) -> None:
        self._consumer = consumer

    @property
    def failures(self) -> int:
        return max(self._failures.values(), default=0)

    async def receive(self, raw: Sequence[ConsumerRecord[Any, Any]]) -> None:
        async with self._lock:
            consumer = self._consumer()
            if consumer is None:
                return
            batch = await self._current(consumer, raw)
            if not batch:
                return
            self.last_record = self.handling_since = self._now()
            self._in_hand = frozenset(batch)
            self._taken.update({place: consumer.last_poll_timestamp(place) for place in batch})
            try:
                await self._handle(consumer, batch)
            finally:
                self.handling_since = None
                self._in_hand = frozenset()
                now = self._now()
                self._since.update({place: now for place in batch if place in self._since})

    async def pass_over(self, partition: Partition, offset: int) -> None:
        """Hand on a record that cannot be read, without its content, if reading still stands before it."""
        place = TopicPartition(*partition)
        async with self._lock:
            consumer = self._consumer()
            if consumer is None or self._next.get(place) != offset or self._holds.holding(partition):
                return
            self.unreadable += 1
            _log.error("record_unreadable", partition=place.partition, offset=offset)
            await self._handle(consumer, {place: [stand_in(partition, offset)]})
            if self._next.get(place) == offset + 1:
                consumer.seek(place, offset + 1)

    def reread(self) -> None:
        """Ask the handler where to read on, and go there, once the batch in hand is done."""
        self._beside(self._reread())

    async def _reread(self) -> None:
        async with self._lock:
            if self._next:
                self._take_over(list(self._next), after=0.0)

    async def _current(
        self, consumer: Consumer, raw: Sequence[ConsumerRecord[Any, Any]]
    ) -> dict[TopicPartition, list[ConsumerRecord[Any, Any]]]:
        """The part of a batch that stands where reading stands."""
        parts: dict[TopicPartition, list[ConsumerRecord[Any, Any]]] = {}
        for record in raw:
            parts.setdefault(TopicPartition(record.topic, record.partition), []).append(record)
        current = {}
        for place, records in parts.items():
            if place not in self._next or place not in consumer.assignment():
                continue
            first, end = records[0].offset, records[-1].offset + 1
            position = await self._position(consumer, place)
            if position is None or position < end:
                continue  # read before somebody moved the position: it will be read again
            if first < self._next[place]:
                if position >= self._next[place]:
                    continue
                # Apache Kafka told the client, which went back by itself.
                if not await self._began_anew(place, first):
                    consumer.seek(place, first)
                    continue
            if self._holds.holding(_name(place)):
                consumer.seek(place, first)
                continue
            if first > self._next[place]:
                await self._count_lost(consumer, place, first)
            current[place] = records
        return current

    async def _count_lost(self, consumer: Consumer, place: TopicPartition, first: int) -> None:
        """The topic may have deleted what was still to be read, which the client steps over in silence (R39).

        Gaps that a producer's transactions leave are none; nor is the past of a topic that was never read.
        """
        next_ = self._next[place]
        if next_ == 0:
            return
        try:
            async with asyncio.timeout(self._commit_seconds):
                begins = (await consumer.beginning_offsets([place]))[place]
        except (KafkaError, TimeoutError):
            begins = first  # rather a call too many
        if begins > next_:
            lost = min(begins, first) - next_
            self.lost += lost
            _log.error("records_lost", partition=place.partition, count=lost)

    async def _position(self, consumer: Consumer, place: TopicPartition) -> int | None:
        try:
            async with asyncio.timeout(self._commit_seconds):  # known at once, but for a reset under way
                return await consumer.position(place)
        except (KafkaError, TimeoutError):
            return None

    async def check_logs(self) -> None:
        """Call now and then: a log that ends below our position is read from its beginning, rather twice than never.

        Apache Kafka refuses such a fetch, and the client goes back by itself; not every broker does.
        """
        consumer = self._consumer()
        if consumer is None or self._lock.locked():
            return
        now = self._now()
        for place, next_ in list(self._next.items()):
            ours = place in self._since and place in consumer.assignment()
            end = consumer.highwater(place) if ours else None
            if end is None or end >= next_:
                self._behind.pop(place, None)
                continue
            since = self._behind.setdefault(place, now)
            polled = self._heard_at(place, consumer.last_poll_timestamp(place), now)
            if polled is not None and (polled - since).total_seconds() >= BEHIND_SECONDS:  # it still says so
                async with self._lock:
                    if self._next.get(place) == next_ and await self._began_anew(place, 0):
                        self._go_back(consumer, {place: 0})

    async def _began_anew(self, place: TopicPartition, first: int) -> bool:
        """True once the handler has noted it; until then the partition waits, and it is tried again."""
        try:
            await self._handler.began_anew(_name(place), first)
        except Exception as failure:  # noqa: BLE001 - whatever it is, nothing of the new log may be read yet
            _log.error("new_log_not_noted", error=type(failure).__name__)
            return False
        self.resets += 1
        _log.warning("log_began_anew", partition=place.partition, was=self._next[place], now=first)
        return True

    async def _handle(
        self, consumer: Consumer, batch: dict[TopicPartition, list[ConsumerRecord[Any, Any]]]
    ) -> None:
        records = convert_records(record for part in batch.values() for record in part)
        starts = {place: part[0].offset for place, part in batch.items()}
        try:
            done = await self._handler.handle(records)
        except PositionConflict as conflict:
            _log.info("batch_was_void", partitions=len(conflict.partitions))
            self._go_back(consumer, starts)
            self._take_over(batch, after=self._backoff.first)
            return
        except LineStopped:
            _log.error("line_stopped")
            self._go_back(consumer, starts)
            self._holds.hold(LINE_STOPPED)
            self.apply_holds()
            return
        except Exception as failure:  # noqa: BLE001 - whatever it is, the batch is not safe, and is read again
            _log.error("batch_failed", error=type(failure).__name__, records=len(records))
            self._retry(consumer, starts)
            return
        reached = {place: next_ for place in batch if (next_ := done.get(_name(place))) is not None}
        behind = {}
        for place, part in batch.items():
            next_ = reached.get(place, starts[place])
            if next_ < part[-1].offset + 1:
                behind[place] = next_
            else:
                self._failures.pop(place, None)
                if not self._holds.holding(_name(place)):  # it may have been held because of what was read
                    self._stuck.pop(place, None)
                self._next[place] = next_
                if next_ > part[-1].offset + 1:
                    consumer.seek(place, next_)
        if behind:
            self._retry(consumer, behind)
        if reached:
            self.last_done = self._now()
            written = {
                place: min(next_, self._handler.written(_name(place))) for place, next_ in reached.items()
            }
            await self._commit(
                consumer, {place: next_ for place, next_ in written.items() if next_ > starts[place]}
            )

    async def _commit(self, consumer: Consumer, offsets: dict[TopicPartition, int]) -> None:
        """For lag only: the database has the positions, so a commit that fails is made up by the next.

        Never ahead of the database: lag would not show what is still to be written.
        """
        if not offsets:
            return
        try:
            async with asyncio.timeout(self._commit_seconds):
                await consumer.commit(offsets)
        except (KafkaError, TimeoutError) as failure:
            _log.warning("offsets_not_committed", error=type(failure).__name__)

    def _go_back(self, consumer: Consumer, offsets: dict[TopicPartition, int]) -> None:
        for place, offset in offsets.items():
            self._next[place] = offset
            with suppress(IllegalStateError):  # no longer ours
                consumer.seek(place, offset)

    def _retry(self, consumer: Consumer, offsets: dict[TopicPartition, int]) -> None:
        """Held rather than slept over: the poll loop must go on, or the group gives us up."""
        self._go_back(consumer, offsets)
        for place in offsets:
            self._failures[place] = self._failures.get(place, 0) + 1
        names = [_name(place) for place in offsets]
        self._holds.hold(RETRY, names)
        self.apply_holds()

        def release() -> None:
            self._timers.discard(timer)
            self._holds.release(RETRY, names)
            self.apply_holds()

        delay = self._backoff.wait(max(self._failures[place] for place in offsets))
        timer = asyncio.get_running_loop().call_later(delay, release)
        self._timers.add(timer)

    def apply_holds(self) -> None:
        """Bring the consumer's pauses in line. Partitions whose position is not known yet stay paused."""
        consumer = self._consumer()
        if consumer is None:
            return
        now = self._now()
        for place in consumer.assignment():
            if place not in self._next or self._holds.holding(_name(place)):
                consumer.pause(place)
                self._since.pop(place, None)
            else:
                consumer.resume(place)
                self._since.setdefault(place, now)
            if self._holds.holding(_name(place)):
                self._stuck.setdefault(place, now)
            elif place not in self._failures:  # or what is tried again would not count as stuck meanwhile
                self._stuck.pop(place, None)

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        self._assigned = False
        async with self._lock:
            await self._give_up(revoked)

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._assigned = True
        self.apply_holds()  # before anything is read: from where, the database says
        if assigned:
            _log.info("partitions_assigned", partitions=len(assigned))
            self._take_over(assigned, after=0.0)

    async def leave(self, partitions: Collection[TopicPartition]) -> None:
        """For good. A batch that is still in hand has been cancelled, and gets a moment to notice."""
        try:
            async with asyncio.timeout(self._commit_seconds), self._lock:
                await self._give_up(partitions)
        except TimeoutError:
            await self._give_up(partitions)

    async def _give_up(self, partitions: Collection[TopicPartition]) -> None:
        self._epoch += 1
        for timer in self._timers:
            timer.cancel()
        for task in self._takeovers:
            task.cancel()
        self._timers.clear()
        self._holds.release(RETRY)
        self._next.clear()
        self._since.clear()
        self._failures.clear()
        self._stuck.clear()
        self._behind.clear()
        self._polled.clear()
        self._taken.clear()
        if partitions:
            try:
                await self._handler.revoked(_names(partitions))
            except Exception as failure:  # noqa: BLE001 - they are gone whatever the handler says
                _log.error("revocation_failed", error=type(failure).__name__)

    def _take_over(self, partitions: Iterable[TopicPartition], after: float) -> None:
        """In the background, as the client sends no heartbeats while a listener runs."""
        places = sorted(partitions)
        for place in places:
            self._next.pop(place, None)
        self.apply_holds()
        self._beside(self._find_positions(self._epoch, places, after))

    def _beside(self, takeover: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(takeover)
        self._takeovers.add(task)
        task.add_done_callback(self._takeovers.discard)

    async def _find_positions(self, epoch: int, places: Sequence[TopicPartition], after: float) -> None:
        await asyncio.sleep(after)
        failures = 0
        while True:
            try:
                positions = await self._handler.assigned(_names(places), self._committed)
                break
            except Exception as failure:  # noqa: BLE001 - without positions nothing is read; asked until known
                failures += 1
                _log.error("positions_unknown", error=type(failure).__name__)
                await asyncio.sleep(self._backoff.wait(failures))
        async with self._lock:
            consumer = self._consumer()
            if epoch != self._epoch or consumer is None:
                return
            for place in places:
                if place in consumer.assignment():
                    self._next[place] = positions.get(_name(place), 0)
                    consumer.seek(place, self._next[place])
            self.apply_holds()

    async def _committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """Raise where the broker does not say: from the beginning would be a long way."""
        consumer = self._consumer()
        if consumer is None:
            raise KafkaConnectionError
        found = {}
        for partition in partitions:
            async with asyncio.timeout(self._commit_seconds):
                offset = await consumer.committed(TopicPartition(*partition))
            if offset is not None:
                found[partition] = offset
        return found

    def _heard_at(self, place: TopicPartition, polled: int | None, now: datetime) -> datetime | None:
        """When the broker last answered, by our clock: the client's stamp is the machine's, which may jump."""
        if polled is None:
            return None
        known = self._polled.get(place)
        if known is None or known[0] != polled:
            known = self._polled[place] = (polled, now)
        return known[1]

    def partitions(self) -> dict[Partition, PartitionProgress]:
        consumer = self._consumer()
        if consumer is None:
            return {}
        now = self._now()
        return {
            _name(place): self._progress(consumer, place, now)
            for place in sorted(consumer.assignment())
            if place in self._next
        }

    @property
    def joining(self) -> bool:
        """True until the group has said what is ours, were it nothing."""
        return not self._assigned

    def unknown(self) -> frozenset[Partition]:
        """What is ours and is not read, because its position is not known."""
        consumer = self._consumer()
        assigned = set() if consumer is None else consumer.assignment()
        return frozenset(_name(place) for place in assigned if place not in self._next)

    def _progress(self, consumer: Consumer, place: TopicPartition, now: datetime) -> PartitionProgress:
        """The client asks for no more of a partition while records of it wait: that bounds its memory."""
        end, stamp = consumer.highwater(place), consumer.last_poll_timestamp(place)
        fresh = stamp is not None and stamp != self._taken.get(place)
        return PartitionProgress(
            position=self._next[place],
            end=end,
            polled=self._heard_at(place, stamp, now),
            since=self._since.get(place, now),
            held=place not in self._since,
            in_hand=place in self._in_hand,
            unread=fresh and end is not None and end > self._next[place],
            stuck=self._stuck.get(place),
        )


def _name(place: TopicPartition) -> Partition:
    return (place.topic, place.partition)


def _names(places: Iterable[TopicPartition]) -> list[Partition]:
    return sorted(_name(place) for place in places)
