"""The running parts of one worker: source, relay, timers, lifeboat, and the loops that keep the gauges."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from alerts.ports import Clock, Notification
from alerts.relay import Relay
from monitor.auditor import Auditor
from monitor.awake import Awake
from monitor.batch import BatchResult
from monitor.canary import CanaryLoop
from monitor.common_time import CommonTime
from monitor.dead_letter_desk import DeadLetterDesk
from monitor.decode.dead_letters import DeadLetterLimit, StopReason
from monitor.errors import JiezhuError, StoreError
from monitor.expiry import Expiry, Figures
from monitor.forgetting import Forgetting
from monitor.group_keeper import GroupKeeper
from monitor.guard import Guard
from monitor.health import PREPARING, SILENT, Health, Judge, Signs, live, ready
from monitor.last_resort import LastResort
from monitor.lifeboat import Lifeboat
from monitor.metrics import Metrics
from monitor.observing import observing
from monitor.publisher import Publisher
from monitor.recorder import Recorder
from monitor.self_watch import SelfWatch
from monitor.sources.kafka import KafkaSource
from monitor.sources.progress import Progress
from monitor.store.work import Partition, Store, Work
from monitor.timers import Timers

_log = structlog.get_logger(__name__)

# They begin once the encoder is prepared. Nobody else waits for it: what is due by the clock may be due now.
READING = ("source", "dead_letters", "self_watch", "canary")
HOLDS = ("line_stopped", "retry")
BACK_PRESSURE = "back_pressure"
# They turn every second or so, whatever else happens: one that shows no sign is helped by a restart. The publisher is none
# of them: what it adds up is nobody's safety, and one row that hangs it would end worker after worker as they are elected.
LOOPS = (
    *("timers", "heartbeat", "relay", "lifeboat", "dead_letters", "self_watch", "canary", "groups"),
    *("common_time", "expiry", "loop_lag"),
)
HEARTBEAT = timedelta(seconds=1)
LAG_SAMPLE = 0.1
STOP_WITHIN = 25.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What ``app`` has built."""

    source: KafkaSource
    guard: Guard
    desk: DeadLetterDesk
    relay: Relay
    timers: Timers
    groups: GroupKeeper
    lifeboat: Lifeboat
    self_watch: SelfWatch
    canary: CanaryLoop | None
    store: Store
    metrics: Metrics
    recorder: Recorder
    limit: DeadLetterLimit
    clock: Clock
    common_time: CommonTime
    keep: timedelta  # how long words are kept
    read_to_end: Callable[[datetime], Collection[Partition]]
    figures: Figures
    line_stopped: Callable[[StopReason, datetime], Notification]
    auditor: Auditor
    forgetting: Forgetting
    publisher: Publisher | None


class Worker:
    def __init__(self, parts: Parts, last_resort: Callable[..., LastResort] = LastResort) -> None:
        self._parts = parts
        self._last_resort = last_resort
        self._stopped: StopReason | None = None
        self._oldest = timedelta(0)
        self._calling: asyncio.Task[None] | None = None
        self._awake = Awake()
        self._preparing: asyncio.Task[None] | None = None

    async def run(
        self, serving: asyncio.Task[None], ending: asyncio.Task[Any], preparing: asyncio.Task[None]
    ) -> None:
        """Run all loops until ``ending``, those that read once ``preparing`` is done; raise what that failed with.

        A loop that ends by itself has failed: the process goes with it. So it does when it has found itself dead for
        minutes: see ``LastResort``.
        """
        self._preparing = preparing
        loops = {
            name: _then(preparing, loop) if name in READING else loop for name, loop in self.loops().items()
        }
        given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        last_resort = self._last_resort(lambda: self.health(live), partial(_give_up, given_up))
        last_resort.start()
        tasks = {
            serving,
            asyncio.create_task(_until(given_up), name="last_resort"),
            *(asyncio.create_task(loop, name=name) for name, loop in loops.items()),
        }
        done, _ = await asyncio.wait({*tasks, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not given_up.done():
            last_resort.stop()
        failed = next((task for task in done if task is not ending), None)
        if self._prepared and preparing.exception() is not None:
            await self._stop(tasks)
            preparing.result()
        if failed is not None:
            _log.error("part_failed", part=failed.get_name(), exc_info=failed.exception() or True)
        preparing.cancel()
        await self._stop(tasks)
        if failed is not None:
            raise JiezhuError(f"{failed.get_name()} stopped by itself; see the log above")

    def loops(self) -> dict[str, Coroutine[Any, Any, None]]:
        """All that runs beside each other, by the part's name."""
        parts = self._parts
        loops: dict[str, Coroutine[Any, Any, None]] = {
            "source": parts.source.run(),
            "relay": parts.relay.run(),
            "timers": parts.timers.run(),
            "groups": parts.groups.run(),
            "lifeboat": parts.lifeboat.run(),
            "dead_letters": parts.desk.run(),
            "self_watch": parts.self_watch.run(),
            "heartbeat": self._heartbeat(),
            "loop_lag": self._loop_lag(),
            "expiry": Expiry(
                parts.store,
                parts.clock,
                parts.keep,
                parts.figures,
                read_to_end=parts.read_to_end,
                looked=partial(parts.recorder.alive, "expiry"),
            ).run(),
            "auditor": parts.auditor.run(),
            "common_time": parts.common_time.run(),
            "forgetting": parts.forgetting.run(),
        }
        if parts.publisher is not None:
            loops["publisher"] = parts.publisher.run()
        if parts.canary is not None:
            loops["canary"] = parts.canary.run()
        return loops

    @property
    def _prepared(self) -> bool:
        return self._preparing is not None and self._preparing.done()

    def committed(self, result: BatchResult) -> None:
        """Wake what waits for a batch, and count its dead letters."""
        self._parts.relay.wake()
        self._parts.timers.wake()
        self._parts.lifeboat.remember(result)
        self._parts.desk.take(result.read.dead)
        self._parts.self_watch.passed(result)
        for good in result.read.good:
            reason = self._parts.limit.count(dead=not good)
            if reason is not None and self._stopped is None:
                self._stop_line(reason)

    def health(self, judge: Judge) -> Health:
        """Asked every few seconds by ``LastResort`` if by nobody else, in its thread."""
        now = self._parts.clock.now()
        progress, stands = self._parts.source.progress(), self._parts.self_watch.standstill
        return judge(
            Signs(
                source=progress.state.value if self._prepared else PREPARING,
                handling_since=progress.handling_since,
                silent_partitions=len(progress.silent(now, SILENT)),
                partitions=len(progress.partitions),
                parts=self._parts.recorder.signs_of_life(LOOPS),
                store_up=not self._parts.lifeboat.aboard,
                line_stopped=self._stopped is not None,
                outbox_oldest=self._oldest,
                encoder_up=self._parts.guard.well or not self._prepared,
                encoder_hanging_since=self._parts.guard.hanging_since,
                reading_stalled=None if stands is None else stands.cause.value,
                detector_idle=self._parts.self_watch.detector_idle,
                awake=self._awake.look(now),
            ),
            now,
        )

    async def _stop(self, tasks: set[asyncio.Task[None]]) -> None:
        """Source first, then what it feeds: a batch in hand still becomes pages."""
        _log.info("stopping")
        parts = self._parts
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN):
                await parts.source.stop()
                parts.timers.stop()
                parts.groups.stop()
                parts.relay.stop()
                ends = [task for task in tasks if task.get_name() in ("source", "timers", "relay")]
                await asyncio.gather(*ends, return_exceptions=True)
                await parts.lifeboat.close()
                if parts.publisher is not None:
                    with contextlib.suppress(StoreError):
                        await parts.publisher.close()
        for task in tasks:
            if task.get_name() != "web":
                task.cancel()
        await asyncio.gather(*(t for t in tasks if t.get_name() != "web"), return_exceptions=True)

    def _stop_line(self, reason: StopReason) -> None:
        """The events are not what we think they are: read no further, and call somebody."""
        _log.error("line_stopped", reason=reason.value)
        self._stopped = reason
        self._parts.metrics.line_stopped.set(1)
        self._parts.source.pause("line_stopped")
        call = self._parts.line_stopped(reason, self._parts.clock.now())
        self._calling = asyncio.create_task(self._call(call))

    async def _call(self, notification: Notification) -> None:
        while True:
            try:
                await self._parts.store.commit(Work(notifications=[notification]))
            except StoreError:
                await self._parts.clock.sleep(HEARTBEAT)
                continue
            self._parts.relay.wake()
            return

    async def _heartbeat(self) -> None:
        """Bring the gauges up to date."""
        parts = self._parts
        while True:
            with contextlib.suppress(StoreError):  # while it is away the last age stands
                self._oldest = await parts.store.oldest(parts.clock.now())
            with observing():
                self._show(parts.source.progress())
            parts.recorder.alive("heartbeat", parts.clock.now())
            await parts.clock.sleep(HEARTBEAT)

    def _show(self, progress: Progress) -> None:
        recorder, metrics = self._parts.recorder, self._parts.metrics
        recorder.lag({name: part.lag for name, part in progress.partitions.items()})
        recorder.lost(progress.lost)
        for reason in HOLDS:
            metrics.paused.labels(reason).set(reason in progress.holds)
        metrics.paused.labels(BACK_PRESSURE).set(progress.back_pressure)
        recorder.outbox_age(self._oldest)
        metrics.ready.set(self.health(ready).good)

    async def _loop_lag(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(LAG_SAMPLE)
            self._parts.metrics.loop_lag.observe(max(time.perf_counter() - before - LAG_SAMPLE, 0))
            self._parts.recorder.alive("loop_lag", self._parts.clock.now())


def _give_up(given_up: asyncio.Future[None], reasons: tuple[str, ...]) -> None:
    """From another thread."""
    why = JiezhuError(f"the worker is dead ({', '.join(reasons)}) and ends, to be started anew")

    def end() -> None:
        if not given_up.done():
            given_up.set_exception(why)

    given_up.get_loop().call_soon_threadsafe(end)


async def _then(preparing: asyncio.Task[None], loop: Coroutine[Any, Any, None]) -> None:
    with contextlib.closing(loop):
        await asyncio.wait({preparing})
        preparing.result()
        await loop


async def _until(given_up: asyncio.Future[None]) -> None:
    await given_up
