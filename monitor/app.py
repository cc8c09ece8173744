"""The daemon. Builds every object once and runs the loops; nothing here decides anything."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any

import structlog

from alerts.ports import Notification
from alerts.relay import Relay
from detectors.encoder import Progress
from monitor import assembly
from monitor.clock import SystemClock
from monitor.decode.dead_letters import DeadLetterLimit, DeadLetterPolicy, StopReason
from monitor.errors import ConfigurationError, JiezhuError, StoreError
from monitor.health import SILENT, Health, Signs, live, ready
from monitor.lifeboat import Lifeboat
from monitor.metrics import Metrics
from monitor.people import People
from monitor.pipeline import BatchResult, Pipeline
from monitor.reading import Reading
from monitor.recorder import Recorder
from monitor.scoring import Scoring
from monitor.settings import Settings
from monitor.sources.asyncapi import describe_json
from monitor.sources.kafka import KafkaSource
from monitor.store.migration import is_current, migrate
from monitor.store.work import Work
from monitor.timers import Timers
from monitor.trouble import line_stopped
from monitor.web import incident as incident_page
from monitor.web.app import build
from monitor.web.server import WebServer

_log = structlog.get_logger(__name__)

HEARTBEAT = timedelta(seconds=1)
LAG_SAMPLE = 0.1
EXPIRY = timedelta(hours=1)
STOP_WITHIN = 25.0


class App:
    """One worker. ``run`` returns after SIGTERM or SIGINT, or when a part has failed for good."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        keys = assembly.keys(settings)
        self._pagers = assembly.pagers(settings, self.clock)
        self._keyring = keys.keyring
        self.web = WebServer(settings.http.host, settings.http.port)
        self.metrics = Metrics()
        self.recorder = Recorder(self.metrics)
        self.store = assembly.store(settings, keys.keyring)
        self.reading = Reading()
        self._reader = assembly.reader(keys.pseudonymiser, self.clock)
        self._links_key = keys.links
        self._limit = DeadLetterLimit(
            DeadLetterPolicy(
                in_a_row=settings.dead_letters.in_a_row,
                share=settings.dead_letters.share,
                window=settings.dead_letters.window,
            )
        )
        self._stopped: StopReason | None = None
        self._stopping = asyncio.Event()
        self._oldest = timedelta(0)
        self._is_store_up = False

    async def run(self, progress: Progress) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        await asyncio.to_thread(prepare_tables, self.settings)
        preparing = asyncio.create_task(asyncio.to_thread(assembly.scoring, self.settings, progress))
        ending = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({preparing, ending}, return_when=asyncio.FIRST_COMPLETED)
        if self._stopping.is_set():
            return
        await self._serve(await preparing)

    async def _serve(self, scoring: Scoring) -> None:
        public = self.settings.http.public_url or f"http://{self.settings.http.host}:{self.web.port}"
        settings = self.settings.model_copy(
            update={"http": self.settings.http.model_copy(update={"public_url": public})}
        )
        paging = assembly.paging(settings, self._links_key, self.clock, self._settle)
        self.relay = Relay(self.store, self._pagers, self.clock, self.recorder)
        self.timers = Timers(self.store, paging, self.reading, self.clock, self.recorder, self.relay.wake)
        self.lifeboat = Lifeboat(
            store=self.store,
            pagers=self._pagers,
            paging=paging,
            reading=self.reading,
            clock=self.clock,
            relay_observer=self.recorder,
            timer_observer=self.recorder,
            rewind=self._rewind,
            up=self._store_up,
        )
        pipeline = Pipeline(
            reader=self._reader,
            scoring=scoring,
            store=self.store,
            paging=paging,
            reading=self.reading,
            clock=self.clock,
            observer=self.recorder,
            lifeboat=self.lifeboat,
            committed=self._committed,
        )
        self.source = KafkaSource(assembly.kafka(settings), pipeline)
        self.reading.caught_up = self.source.caught_up
        people = People(self.store, paging, self.clock, self.relay.wake)
        web = build(
            self.metrics.registry,
            lambda: self._health(live),
            lambda: self._health(ready),
            lambda: describe_json(self.source.client),
            incident_page.routes([self._links_key], self.store, people, self.clock),
        )
        self._store_up(True)
        _log.info("ready", http_port=self.web.port, topic=settings.kafka.topic, group=settings.kafka.group_id)
        await self._until_stopped(
            {
                "source": self.source.run(),
                "relay": self.relay.run(),
                "timers": self.timers.run(),
                "lifeboat": self.lifeboat.run(),
                "web": self.web.run(web),
                "heartbeat": self._heartbeat(),
                "loop_lag": self._loop_lag(),
                "expiry": self._expire(),
            }
        )
        scoring.close()

    async def _until_stopped(self, loops: dict[str, Coroutine[Any, Any, None]]) -> None:
        """Run all loops until told to stop. One that ends by itself has failed: the process goes with it."""
        tasks = {asyncio.create_task(loop, name=name) for name, loop in loops.items()}
        ending = asyncio.create_task(self._stopping.wait(), name="stop")
        done, _ = await asyncio.wait({*tasks, ending}, return_when=asyncio.FIRST_COMPLETED)
        failed = next((task for task in done if task is not ending), None)
        if failed is not None:
            _log.error("part_failed", part=failed.get_name(), exc_info=failed.exception() or True)
        await self._stop(tasks)
        ending.cancel()
        if failed is not None:
            raise JiezhuError(f"{failed.get_name()} stopped by itself; see the log above")

    async def _stop(self, tasks: set[asyncio.Task[None]]) -> None:
        """Source first, then what it feeds: a batch in hand still becomes pages."""
        _log.info("stopping")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN):
                await self.source.stop()
                self.timers.stop()
                self.relay.stop()
                self.web.stop()
                ends = {task for task in tasks if task.get_name() in ("source", "timers", "relay", "web")}
                await asyncio.gather(*ends, return_exceptions=True)
                await self.lifeboat.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for pager in self._pagers:
            await pager.close()
        await self.store.close()

    def _committed(self, result: BatchResult) -> None:
        """Wake what waits for a batch, and count its dead letters."""
        self.relay.wake()
        self.timers.wake()
        self.lifeboat.remember(result)
        for good in result.read.good:
            reason = self._limit.count(dead=not good)
            if reason is not None and self._stopped is None:
                self._stop_line(reason)

    def _stop_line(self, reason: StopReason) -> None:
        """The events are not what we think they are: read no further, and call somebody."""
        _log.error("line_stopped", reason=reason.value)
        self._stopped = reason
        self.metrics.line_stopped.set(1)
        self.source.pause("line_stopped")
        self._calling = asyncio.create_task(self._call(line_stopped(self.settings, reason, self.clock.now())))

    async def _call(self, notification: Notification) -> None:
        while True:
            try:
                await self.store.commit(Work(notifications=[notification]))
            except StoreError:
                await self.clock.sleep(HEARTBEAT)
                continue
            self.relay.wake()
            return

    def _settle(self, notifications: list[Notification]) -> list[Notification]:
        return self.lifeboat.settle(notifications)

    async def _rewind(self) -> None:
        self.source.reread()

    def _store_up(self, up: bool) -> None:  # noqa: FBT001 - one flag, one meaning
        self._is_store_up = up
        self.metrics.store_up.set(up)

    async def _heartbeat(self) -> None:
        """Bring the gauges up to date."""
        while True:
            progress = self.source.progress()
            self.recorder.lag(
                {name: part.lag for name, part in progress.partitions.items() if part.lag is not None}
            )
            for reason in ("line_stopped", "retry"):
                self.metrics.paused.labels(reason).set(reason in progress.holds)
            self._oldest = timedelta(0)
            with contextlib.suppress(StoreError):
                self._oldest = await self.store.oldest(self.clock.now())
            self.recorder.outbox_age(self._oldest)
            self.recorder.alive("heartbeat", self.clock.now())
            await self.clock.sleep(HEARTBEAT)

    async def _loop_lag(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LAG_SAMPLE)
            self.metrics.loop_lag.observe(max(time.perf_counter() - before - LAG_SAMPLE, 0))

    async def _expire(self) -> None:
        """Let go of words that have been kept long enough (M7)."""
        keep = timedelta(days=self.settings.retention.days)
        while True:
            with contextlib.suppress(StoreError):
                gone = await self.store.expire(self.clock.now() - keep)
                if gone:
                    _log.info("expired", rows=gone)
            await self.clock.sleep(EXPIRY)

    def _health(self, judge: Callable[[Signs, datetime], Health]) -> Health:
        now = self.clock.now()
        progress = self.source.progress()
        return judge(
            Signs(
                source=progress.state.value,
                handling_since=progress.handling_since,
                silent_partitions=len(progress.silent(now, SILENT)),
                partitions=len(progress.partitions),
                holds=tuple(progress.holds),
                parts=self.recorder.signs_of_life(("timers", "heartbeat")),
                store_up=self._is_store_up,
                line_stopped=self._stopped is not None,
                outbox_oldest=self._oldest,
            ),
            now,
        )


def prepare_tables(settings: Settings) -> None:
    """SQLite is brought up to date at once; PostgreSQL only by ``jiezhu migrate``, when an operator says so."""
    url = settings.database_url
    if url.startswith("sqlite"):
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        migrate(url)
    elif not is_current(url):
        raise ConfigurationError(
            "JIEZHU_DATABASE__URL", "the tables are of an older release; run `jiezhu migrate` first"
        )
