"""Turns from Kafka. Runs until it is stopped: a broker that is away is waited for, a silent one called anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import structlog
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError
from faststream.kafka.security import parse_security

from monitor.sources.backoff import Backoff
from monitor.sources.client import Client, build_client
from monitor.sources.holds import Holds
from monitor.sources.intake import Intake
from monitor.sources.progress import Progress, SourceState
from monitor.sources.record import Handler
from monitor.sources.security import build_security
from monitor.sources.settings import KafkaSettings
from monitor.sources.unreadable import StandstillWatch, find_unreadable
from monitor.store.work import Partition

WATCH_SECONDS = 1.0

_log = structlog.get_logger(__name__)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class TopicMissing(KafkaError):  # type: ignore[misc]  # noqa: N818 - a state: it may come yet
    retriable = True


class KafkaSource:
    """``run`` reads until ``stop``. One object is run once."""

    def __init__(
        self, settings: KafkaSettings, handler: Handler, *, now: Callable[[], datetime] = _utc_now
    ) -> None:
        self._settings = settings
        self._handler = handler
        self._now = now
        self._holds = Holds()
        self._backoff = Backoff(settings.first_retry_seconds, settings.longest_retry_seconds)
        self._reconnect = Backoff(settings.first_retry_seconds, settings.longest_reconnect_seconds)
        self._state = SourceState.IDLE
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._connected = asyncio.Event()
        self._restarts = 0
        self._looked: datetime | None = None
        self._client, self._intake = self._build()

    def _build(self) -> tuple[Client, Intake]:
        intake = Intake(
            self._handler,
            self._holds,
            self._backoff,
            now=self._now,
            commit_seconds=self._settings.commit_seconds,
        )
        client = build_client(self._settings, intake.receive, intake)
        intake.attach(client.consumer)
        return client, intake

    async def run(self) -> None:
        """Returns after ``stop``."""
        try:
            failures = 0
            while not self._stopping.is_set():
                self._state = SourceState.CONNECTING
                failures += 1
                try:
                    if await self._connect_or_stop():
                        failures = 0
                        self._looked = self._now()
                        self._state = SourceState.JOINED
                        self._connected.set()
                        await self._watch()
                finally:
                    self._connected.clear()
                    await self._disconnect()
                if failures:
                    await self._pause_for(self._reconnect.wait(failures))
        finally:
            self._state = SourceState.STOPPED
            self._stopped.set()

    async def stop(self) -> None:
        """Finish the batch in hand within its limit, commit, leave the group. Harmless when repeated."""
        self._stopping.set()
        if self._state is not SourceState.IDLE:
            await self._stopped.wait()

    async def wait_connected(self) -> None:
        """Returns once the source is a member of its group."""
        await self._connected.wait()

    def pause(self, reason: str, partitions: Collection[Partition] | None = None) -> None:
        """Stop reading, stay in the group. All partitions, or the named ones; until every reason is gone."""
        self._holds.hold(reason, partitions)
        self._intake.apply_holds()

    def resume(self, reason: str, partitions: Collection[Partition] | None = None) -> None:
        self._holds.release(reason, partitions)
        self._intake.apply_holds()

    def reread(self) -> None:
        """Ask the handler anew where to read on, and go there: the database was away and is back."""
        self._intake.reread()

    def progress(self) -> Progress:
        intake, joined = self._intake, self._state is SourceState.JOINED
        return Progress(
            state=self._state,
            partitions=intake.partitions() if joined else {},
            unknown=intake.unknown() if joined else frozenset(),
            joining=joined and intake.joining,
            holds=self._holds.reasons,
            last_record=intake.last_record,
            last_done=intake.last_done,
            handling_since=intake.handling_since,
            failures=intake.failures,
            resets=intake.resets,
            lost=intake.lost,
            unreadable=intake.unreadable,
            restarts=self._restarts,
            looked=self._looked,
        )

    def caught_up(self, partition: Partition) -> bool:
        return self.progress().caught_up(partition)

    def stuck(self, partition: Partition) -> datetime | None:
        return self.progress().stuck(partition)

    @property
    def client(self) -> Client:
        """The application in use; a new one after every restart."""
        return self._client

    async def _connect(self) -> None:
        await self._find_topic()
        await self._client.broker.start()

    async def _find_topic(self) -> None:
        """Looked for apart, as a client that fails half-way through its start cannot be closed cleanly."""
        settings = self._settings
        probe = AIOKafkaConsumer(
            bootstrap_servers=settings.bootstrap_servers,
            client_id=settings.client_id,
            **parse_security(build_security(settings)),
        )
        try:
            async with asyncio.timeout(settings.request_timeout_ms / 1000):
                await probe.start()
                if settings.topic not in await probe.topics():
                    raise TopicMissing
        finally:
            await probe.stop()

    async def _connect_or_stop(self) -> bool:
        """True when connected; False when it failed, or stopping came first."""
        connecting = asyncio.create_task(self._connect())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if connecting.done():
                await connecting
                return True
        except (KafkaError, OSError, TimeoutError) as failure:
            _log.warning("broker_away", error=type(failure).__name__)
        finally:
            stopping.cancel()
            if connecting.cancel():
                await asyncio.wait({connecting})
        return False

    async def _watch(self) -> None:
        """Returns when stopping, or when the broker has been silent for too long (aiokafka stalls by itself)."""
        limit = timedelta(seconds=self._settings.restart_after_seconds)
        standstill = StandstillWatch()
        while not await self._pause_for(WATCH_SECONDS):
            self._looked = self._now()
            await self._intake.check_logs()
            progress = self.progress()
            for partition in standstill.observe(progress, self._now()):
                await self._look_at(partition, progress.partitions[partition].position)
            if silent := progress.silent(self._now(), limit):
                _log.error("source_silent", partitions=len(silent))
                self._restarts += 1
                return

    async def _look_at(self, partition: Partition, position: int) -> None:
        try:
            async with asyncio.timeout(self._settings.stop_seconds):
                offset = await find_unreadable(self._settings, partition, position)
                if offset is not None:
                    await self._intake.pass_over(partition, offset)
        except (KafkaError, OSError, TimeoutError) as failure:
            _log.warning("standstill_unexplained", partition=partition[1], error=type(failure).__name__)

    async def _disconnect(self) -> None:
        """Bounded, whatever the broker does. A fresh client stands ready afterwards."""
        consumer = self._client.consumer()
        owned = set() if consumer is None else consumer.assignment()
        try:
            async with asyncio.timeout(self._settings.stop_seconds + 5):
                await self._client.broker.stop()
        except (KafkaError, OSError, TimeoutError) as failure:
            _log.warning("broker_left_in_haste", error=type(failure).__name__)
        await self._intake.leave(owned)
        if not self._stopping.is_set():
            before = self._intake
            self._client, self._intake = self._build()
            self._intake.last_record, self._intake.last_done = before.last_record, before.last_done
            self._intake.resets, self._intake.lost = before.resets, before.lost
            self._intake.unreadable = before.unreadable

    async def _pause_for(self, seconds: float) -> bool:
        """True when stopping."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return self._stopping.is_set()
