"""Sends canaries into the topic, sees them arrive, and tells a service outside that the whole way is open (P7, R63).

Every worker sends the same canaries at the same times, so that none has to be elected and no single worker's death
is mistaken for a broken way. Whether one arrived is known from our own relay, else from the outbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from pydantic import SecretStr

from alerts.canary import Canary
from alerts.delivery import Attempt
from alerts.pagers.http import Messenger
from alerts.ports import Clock
from monitor.canary_book import CanaryBook
from monitor.canary_event import HEADERS, CanaryMark
from monitor.errors import JiezhuError, StoreError
from monitor.store.work import Store

_log = structlog.get_logger(__name__)

ROUND = timedelta(seconds=1)
KEPT = timedelta(hours=1)  # rows of canaries: long enough to look at one that failed
TRIES = 3  # of a heartbeat; the next canary brings the next one
HEARTBEAT_LIMIT = timedelta(seconds=5)

# The service keeps the body of the last heartbeat and shows it beside its alert: so the alert explains itself.
EXPLANATION = """\
This is the heartbeat of jiezhu's canary. At every beat a made-up crisis went the whole way: Kafka, detector, database,
pager. If these beats have stopped, a real person's crisis may not reach anybody now: treat it as an outage of the
safety monitor, not as noise, and do not silence it. No person is behind the canary itself.
First steps: open /readyz of a worker, then the runbook JiezhuCanaryMissing.
"""


class CanaryUnsent(JiezhuError):  # noqa: N818 - a state: the broker is away, or does not let us write
    pass


class Sender(Protocol):
    """The topic, as somebody who writes to it sees it."""

    def partitions(self) -> Collection[int]:
        """Empty while they are not known."""
        ...

    async def send(self, partition: int, key: bytes, value: bytes, headers: dict[str, str]) -> None:
        """Raises CanaryUnsent."""
        ...


class Observer(Protocol):
    def canary_sent(self, *, sent: bool) -> None: ...

    def canary_known(self, canary: Canary, at: datetime) -> None:
        """It has arrived, through this worker's relay or another's."""
        ...

    def canary_due(self, partition: int, at: datetime) -> None:
        """By when the next one of a partition must arrive."""
        ...

    def canary_heartbeat(self, *, told: bool) -> None: ...

    def alive(self, part: str, now: datetime) -> None: ...


Beat = Callable[[], Awaitable[bool]]


class CanaryLoop:
    def __init__(
        self,
        *,
        book: CanaryBook,
        mark: CanaryMark,
        sender: Sender,
        store: Store,
        clock: Clock,
        observer: Observer,
        beat: Beat | None,
    ) -> None:
        """``beat`` tells the service outside; it returns whether it was heard."""
        self._book = book
        self._mark = mark
        self._sender = sender
        self._store = store
        self._clock = clock
        self._observer = observer
        self._beat = beat
        self._next = book.next_at(clock.now())
        self._beating: asyncio.Task[None] | None = None
        self._learnt = False  # what arrived before this worker began
        self._fresh = True

    def arrived(self, canary: Canary, at: datetime) -> None:
        """A pager, or the relay in its place, has taken its page."""
        if not self._book.arrived(canary):
            return
        self._observer.canary_known(canary, at)
        if self._beat is not None and not self._book.overdue(self._clock.now()) and self._rests():
            self._beating = asyncio.create_task(self._tell(self._beat))

    async def run(self) -> None:
        try:
            while True:
                now = self._clock.now()
                try:
                    await self.turn(now)
                except Exception as error:  # noqa: BLE001 - a canary that is missing tells of itself, and ends no worker
                    _log.error("canary_failed", error=type(error).__name__)
                self._observer.alive("canary", now)
                await self._clock.sleep(ROUND)
        finally:
            if self._beating is not None:
                self._beating.cancel()

    async def turn(self, now: datetime) -> None:
        if found := self._sender.partitions():
            self._book.partitions(found, now)
        await self._learn()
        if self._fresh and found and self._learnt:
            self._fresh = False
            if self._book.overdue(now):  # as after a night without any worker: do not wait for the minute
                self._next = now
        if now >= self._next:
            self._next = self._book.next_at(now)
            await self._send_all(self._book.begin(now))
            await self._sweep(now)
        await self._ask()
        for partition in self._book.watched if self._learnt else ():
            self._observer.canary_due(partition, self._book.due(partition))

    async def _send_all(self, canaries: Sequence[Canary]) -> None:
        """All at once: one that takes a while to fail, its partition having no leader, keeps no other back."""
        await asyncio.gather(*(self._send(canary) for canary in canaries))

    async def _send(self, canary: Canary) -> None:
        sent = False
        try:
            for key, value in self._mark.events(canary):
                await self._sender.send(canary.partition, key, value, HEADERS)
            sent = True
        except CanaryUnsent as error:
            _log.warning("canary_not_sent", partition=canary.partition, error=str(error))
        self._observer.canary_sent(sent=sent)

    async def _learn(self) -> None:
        """Until this worker knows what arrived before it began, it does not say what is due: the others know."""
        if self._learnt:
            return
        try:
            self._book.learn(await self._store.newest_canaries())
        except StoreError:
            return
        self._learnt = True

    async def _ask(self) -> None:
        """Those that another worker's relay sent are in the outbox; while that is away, nobody knows of them."""
        waiting = {canary.notification: canary for canary in self._book.waiting}
        if not waiting:
            return
        try:
            found = await self._store.accepted(waiting)
        except StoreError:
            return
        for name, at in sorted(found.items()):
            self.arrived(waiting[name], at)

    async def _sweep(self, now: datetime) -> None:
        """Canaries leave nothing behind but their last success: without it a fresh worker would not know what is missing."""
        if not self._learnt:
            return
        try:
            await self._store.sweep_canaries(Canary(int((now - KEPT).timestamp()), 0), self._book.newest)
        except StoreError as error:
            _log.info("canaries_not_swept", error=type(error).__name__)

    def _rests(self) -> bool:
        return self._beating is None or self._beating.done()

    async def _tell(self, beat: Beat) -> None:
        for attempt in range(TRIES):
            if attempt:
                await self._clock.sleep(timedelta(seconds=2**attempt))
            if await beat():
                self._observer.canary_heartbeat(told=True)
                return
        _log.warning("heartbeat_not_heard")
        self._observer.canary_heartbeat(told=False)


class HeartbeatUrl:
    """A check of a service such as Healthchecks: one request a beat, any 2xx is an answer."""

    def __init__(self, url: SecretStr, clock: Clock) -> None:
        self._url = url
        self._messenger = Messenger(clock, HEARTBEAT_LIMIT)

    async def __call__(self) -> bool:
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        answer = await self._messenger.ask("POST", self._url, EXPLANATION.encode(), headers)
        return not isinstance(answer, Attempt) and 200 <= answer.status < 300

    async def close(self) -> None:
        await self._messenger.close()
