"""The edge that moves the outbox: rows go to their channels at once, and what became of them is written.

A page is sent first and recorded after; crash in between, and it goes out again under the same dedup key. When
the outbox is away, the rows in hand are still sent, tried again from memory, and recorded when it is back.
In hand is a row from its claim until somebody accepted it or another relay may have it. Which of the rows that
were claimed leave by themselves is for ``storm.admit`` to say, asked within the outbox's transaction.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts import storm
from alerts.canary import CHANNEL
from alerts.delivery import (
    Answer,
    Attempt,
    Delivery,
    RetryPolicy,
    State,
    abandoned,
    answered,
    due,
    outlived,
    put_off,
    resumed,
    started,
)
from alerts.escalation import Links
from alerts.memory_groups import MemoryGroups
from alerts.page import Kind, Page
from alerts.ports import Clock, Notification, Outbox, Pager
from alerts.storm import Admitted, Reason, Stand, StormPolicy, channel_of
from alerts.time_limit import either, within

_log = structlog.get_logger(__name__)


class RelayObserver(Protocol):
    """Hears what happens, for metrics and logs."""

    def sent(
        self, page: Page, pager: str, attempt: Attempt, delivery: Delivery, seconds_since_detected: float
    ) -> None:
        """One request was answered, or not; ``delivery`` is what follows from it.

        The time counts from the page's ``detected_at``, or from when it was written where that is not known.
        """
        ...

    def dropped(self, page: Page, delivery: Delivery) -> None:
        """An update was abandoned: it was too old to be worth telling."""
        ...

    def admitted(self, page: Page, reason: Reason) -> None:
        """It was decided whether a request that is due leaves by itself."""
        ...

    def went_round(self, now: datetime) -> None:
        """The relay has looked for what is due: a sign of life."""
        ...

    def outbox_failed(self, operation: str) -> None:
        """``operation`` is ``claim``, ``admit`` or ``record``; it is tried again each second."""
        ...


@dataclass(frozen=True, slots=True)
class Grouping:
    """How a storm is told of: the numbers, and where a group's page points."""

    policy: StormPolicy
    links: Links

    def decide(self, rows: Sequence[Notification], stand: Stand, now: datetime) -> Admitted:
        return storm.admit(rows, stand, now, self.policy, self.links)


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """How long and how much.

    ``slot`` is the longest wait for one of a channel's ``channel`` requests at once; ``attempt`` bounds that
    wait and the request together; ``outbox`` bounds one call of the outbox. A lease outlives a claim and an
    attempt, so no two relays send a row at once. ``in_hand`` bounds the rows being sent.
    """

    poll: timedelta = timedelta(seconds=1)
    lease: timedelta = timedelta(seconds=15)
    attempt: timedelta = timedelta(seconds=9)
    slot: timedelta = timedelta(seconds=2)
    outbox: timedelta = timedelta(seconds=3)
    shutdown: timedelta = timedelta(seconds=10)
    channel: int = 16
    in_hand: int = 256

    def __post_init__(self) -> None:
        if self.outbox + self.attempt >= self.lease:
            raise ValueError("a relay's lease must be longer than its outbox and attempt limits together")


class Relay:
    """Run one in each process; they share the outbox by leases. Call ``wake`` after each commit."""

    def __init__(
        self,
        outbox: Outbox,
        pagers: Sequence[Pager],
        clock: Clock,
        observer: RelayObserver,
        *,
        policy: RetryPolicy | None = None,
        limits: RelayLimits | None = None,
        grouping: Grouping | None = None,
    ) -> None:
        if not pagers:
            raise ValueError("a relay needs at least one pager: configure one, the console if nothing else")
        self._outbox = outbox
        self._pagers: Mapping[str, Pager] = {pager.name: pager for pager in pagers}
        self._clock = clock
        self._observer = observer
        self._policy = policy or RetryPolicy()
        self._limits = limits or RelayLimits()
        self._grouping = grouping
        self._without = MemoryGroups()  # what was decided about rows in hand while the outbox was away
        self._slots = {name: asyncio.Semaphore(self._limits.channel) for name in self._pagers}
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._on_the_way: dict[tuple[str, str], str] = {}  # whose request it is, by incident and channel
        self._held: dict[str, Notification] = {}  # newest state of rows that the outbox has not been told
        self._orphans: set[str] = set()  # those of them that could not be told: tried again from memory
        self._retrying: dict[str, Notification] = {}  # recorded and due later: ours if the outbox goes away
        self._due: list[datetime] = []
        self._woken = asyncio.Event()
        self._unrecorded = asyncio.Event()
        self._stopping = False

    @property
    def unrecorded(self) -> int:
        """How many rows wait for the outbox to take their state."""
        return len(self._held)

    def wake(self) -> None:
        """Something was committed to the outbox."""
        self._woken.set()

    def stop(self) -> None:
        """Take nothing more; ``run`` returns when what is in flight is done, or after ``limits.shutdown``."""
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        recorder = asyncio.create_task(self._keep_recording())
        try:
            while not self._stopping:
                self._woken.clear()
                await self._move()
                with self._observing():
                    self._observer.went_round(self._clock.now())
                if not self._stopping:
                    await either(self._clock, self._rest(), self._woken)
            await self._finish(recorder)
        finally:
            for task in (recorder, *self._sending.values()):
                task.cancel()
            await asyncio.gather(recorder, *self._sending.values(), return_exceptions=True)

    async def _move(self) -> None:
        now = self._clock.now()
        for notification_id in self._orphans & self._held.keys():
            self._take(self._held[notification_id], now, None)
        room = self._limits.in_hand - len(self._sending)
        if room <= 0:
            return
        try:
            claimed = await within(
                self._clock, self._limits.outbox, self._outbox.claim(now, self._limits.lease, room)
            )
        except Exception as error:  # noqa: BLE001  the database is away; what is in hand goes on
            self._failed("claim", error)
            for notification in tuple(self._retrying.values()):
                self._take(notification, self._clock.now(), None)
            return
        if len(claimed) < room:
            self._let_go(now)
        known = [self._held.get(row.id, row) for row in claimed if row.id not in self._sending]
        free = [row for row in known if due(row.delivery, self._clock.now())]
        for notification in await self._admitted(free):
            self._take(notification, self._clock.now(), now + self._limits.lease)
        if len(claimed) >= room:
            self._woken.set()

    async def _admitted(self, rows: Sequence[Notification]) -> Sequence[Notification]:
        """Those that leave by themselves, in the order in which they should."""
        if self._grouping is None or not rows:
            return rows
        try:
            admitted = await within(
                self._clock,
                self._limits.outbox,
                self._outbox.admit(rows, self._clock.now(), self._grouping.decide),
            )
            self._without = MemoryGroups()
            self._keep_at_hand(self._grouping, admitted)
        except Exception as error:  # noqa: BLE001  the database is away; what is in hand goes on
            self._failed("admit", error)
            admitted = self._decided_alone(self._grouping, rows)
        with self._observing():
            for row in rows:
                self._observer.admitted(row.page, admitted.reasons[row.id])
        later = [*(call.delivery for call in admitted.calls), *(one.delivery for one in admitted.changed)]
        for at in {delivery.next_at for delivery in later if delivery.next_at is not None}:
            heapq.heappush(self._due, at)
        if any(due(delivery, self._clock.now()) for delivery in later):
            self._woken.set()
        return admitted.send

    def _decided_alone(self, grouping: Grouping, rows: Sequence[Notification]) -> Admitted:
        """The same decision by what this process knows. The rows stay ours until the lease is over.

        What a page written here tells of is decided about anew when the database is back: its list would be
        empty.
        """
        admitted = grouping.decide(rows, self._without.stand(frozenset()), self._clock.now())
        self._without.take(admitted)
        self._keep_at_hand(grouping, admitted)
        return admitted

    def _keep_at_hand(self, grouping: Grouping, admitted: Admitted) -> None:
        """What leaves later, as the outbox has it: should that go away meanwhile, it is for us to send."""
        for call in admitted.calls:
            self._retrying[call.id] = call
        for changed in admitted.changed:
            if not changed.delivery.state.final:
                self._retrying[changed.row.id] = replace(changed.row, delivery=changed.delivery)
        groups = {group.key: group for group in admitted.groups}
        for row in tuple(self._retrying.values()):
            group = groups.get(row.page.incident)
            if group is not None and row.page.kind in (Kind.PAGE, Kind.TICKET):
                now = self._clock.now()
                self._retrying[row.id] = storm.as_it_stands(row, group, grouping.links, now)

    def _take(self, notification: Notification, now: datetime, leased_until: datetime | None) -> None:
        if notification.id in self._sending or not due(notification.delivery, now):
            return
        way = (notification.page.incident, channel_of(notification))
        if self._on_the_way.setdefault(way, notification.id) != notification.id:
            self._wait_for_turn(notification, leased_until)
            return
        self._retrying.pop(notification.id, None)
        task = asyncio.create_task(self._deliver(notification, leased_until))
        self._sending[notification.id] = task
        task.add_done_callback(lambda _: self._released(notification.id, way))

    def _wait_for_turn(self, notification: Notification, leased_until: datetime | None) -> None:
        """One request of an incident at a time to a channel, or the receiver may hear them in any order."""
        if leased_until is not None:
            until = self._clock.now() + storm.HELD
            self._hold(notification, put_off(notification.delivery, until, Reason.HELD.value))
            heapq.heappush(self._due, until)

    def _let_go(self, now: datetime) -> None:
        """Forget rows that were due: the outbox has handed them out, to us or to another relay."""
        for notification in tuple(self._retrying.values()):
            if due(notification.delivery, now):
                del self._retrying[notification.id]

    def _released(self, notification_id: str, way: tuple[str, str]) -> None:
        full = len(self._sending) >= self._limits.in_hand
        self._sending.pop(notification_id, None)
        del self._on_the_way[way]
        if full:
            self._woken.set()

    async def _deliver(self, notification: Notification, leased_until: datetime | None) -> None:
        begun = self._clock.now()
        page = notification.page
        if outlived(page.kind, begun - notification.created_at, self._policy, canary=page.canary):
            delivery = abandoned(notification.delivery, "outlived")
            self._hold(notification, delivery)
            with self._observing():
                self._observer.dropped(page, delivery)
            return
        delivery = started(resumed(self._routed(notification), begun, self._policy), begun)
        self._hold(notification, delivery)
        attempt = await self._attempt(page, delivery.channel_name, begun, leased_until)
        now = self._clock.now()
        after = answered(delivery, attempt, now, self._policy)
        self._hold(notification, after)
        if after.next_at is not None:
            heapq.heappush(self._due, after.next_at)
        since = (now - (page.detected_at or notification.created_at)).total_seconds()
        with self._observing():
            self._observer.sent(page, delivery.channel_name, attempt, after, since)

    async def _attempt(
        self, page: Page, channel: str, begun: datetime, leased_until: datetime | None
    ) -> Attempt:
        """A full channel answers "busy" soon, so that pages for other channels get their turn."""
        pager = self._pagers.get(channel)
        if pager is None:
            return Attempt(Answer.REJECTED, "unknown_pager")
        slots = self._slots[channel]
        try:
            await within(self._clock, self._limits.slot, slots.acquire())
        except TimeoutError:
            return Attempt(Answer.UNAVAILABLE, "busy")
        try:
            now = self._clock.now()
            left = begun + self._limits.attempt - now
            if left <= timedelta(0) or (leased_until is not None and now + left > leased_until):
                return Attempt(Answer.UNAVAILABLE, "stalled")
            return await within(self._clock, left, pager.send(page))
        except TimeoutError:
            return Attempt(Answer.LOST, "timeout")
        except Exception as error:  # noqa: BLE001  a pager's fault must not lose the page
            _log.warning("pager_failed", pager=channel, error=type(error).__name__)
            return Attempt(Answer.LOST, "pager_error")
        finally:
            slots.release()

    def _routed(self, notification: Notification) -> Delivery:
        """A route without a channel that exists leads nowhere: any other is better, but for a canary's page."""
        delivery = notification.delivery
        if notification.page.canary or any(name in self._pagers for name in delivery.route):
            return delivery
        people = tuple(name for name in self._pagers if name != CHANNEL)
        return replace(delivery, route=people or delivery.route, channel=0)

    def _hold(self, notification: Notification, delivery: Delivery) -> None:
        self._held[notification.id] = replace(notification, delivery=delivery)
        self._unrecorded.set()

    async def _keep_recording(self) -> None:
        while True:
            await self._unrecorded.wait()
            self._unrecorded.clear()
            if not await self._record_all():
                await self._clock.sleep(self._limits.poll)
                self._unrecorded.set()

    async def _record_all(self) -> bool:
        """Write what is held, up to the first failure; the row that failed goes last the next time."""
        for notification_id in tuple(self._held):
            if not await self._record(notification_id):
                return False
        return True

    async def _record(self, notification_id: str) -> bool:
        written = self._held[notification_id]
        try:
            await within(
                self._clock, self._limits.outbox, self._outbox.record(notification_id, written.delivery)
            )
        except Exception as error:  # noqa: BLE001  the database is away; it is kept and tried again
            self._held[notification_id] = self._held.pop(notification_id)
            self._orphans.update(self._held)
            self._failed("record", error)
            return False
        self._orphans.discard(notification_id)
        if self._held[notification_id] is written:
            del self._held[notification_id]
            if written.delivery.state is State.RETRYING:
                self._retrying[notification_id] = written
                if due(written.delivery, self._clock.now()):
                    self._woken.set()
        return True

    async def _finish(self, recorder: asyncio.Task[None]) -> None:
        with contextlib.suppress(TimeoutError):
            await within(self._clock, self._limits.shutdown, _all(tuple(self._sending.values())))
        recorder.cancel()
        await asyncio.gather(recorder, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await within(self._clock, self._limits.outbox, self._record_all())

    def _rest(self) -> timedelta:
        """Until the next poll, or until a row that we know of comes due."""
        now = self._clock.now()
        while self._due and self._due[0] <= now:
            heapq.heappop(self._due)
        return min(self._limits.poll, self._due[0] - now) if self._due else self._limits.poll

    def _failed(self, operation: str, error: Exception) -> None:
        _log.warning("outbox_failed", operation=operation, error=type(error).__name__)
        with self._observing():
            self._observer.outbox_failed(operation)

    @contextlib.contextmanager
    def _observing(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001  metrics must not stop a page
            _log.warning("observer_failed", error=type(error).__name__)


async def _all(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
