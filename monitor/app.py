"""The daemon, put together: every object is built here, once, and nothing is decided."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog
from starlette.applications import Starlette

from alerts.ports import Clock, Notification, Pager
from alerts.relay import Relay
from detectors.encoder import Progress
from monitor import assembly, styling
from monitor.auditor import Auditor
from monitor.batch import BatchResult
from monitor.canary import CanaryLoop
from monitor.changes import Paging
from monitor.clock import SteadyClock
from monitor.common_time import CommonTime
from monitor.crypto.keyring import Keyring
from monitor.dead_letter_desk import DeadLetterDesk
from monitor.decode.dead_letters import DeadLetterLimit, DeadLetterPolicy
from monitor.errors import ConfigurationError
from monitor.expiry import Figures
from monitor.forgetting import Forgetting
from monitor.group_keeper import GroupKeeper
from monitor.guard import Guard
from monitor.health import Health, Judge, Signs, live, ready
from monitor.lifeboat import Lifeboat
from monitor.metrics import Metrics
from monitor.people import People
from monitor.pipeline import Pipeline
from monitor.publisher import Publisher
from monitor.reading import Reading
from monitor.recorder import Recorder
from monitor.scoring import Scoring
from monitor.self_watch import SelfWatch
from monitor.settings import Settings
from monitor.sources.asyncapi import describe_json
from monitor.sources.canary_topic import CanaryTopic
from monitor.sources.dead_letters import DeadLetterTopic
from monitor.sources.kafka import KafkaSource
from monitor.store.erasing import Erasing
from monitor.store.migration import is_current, migrate
from monitor.store.records import Records
from monitor.store.sql import SqlStore
from monitor.store.tallies import SqlTallies
from monitor.tally.styles import PURPOSE as MARKS
from monitor.tallying import Tallying
from monitor.timers import Timers
from monitor.trouble import line_stopped, reading_stalled, records_missing
from monitor.web import group as group_page
from monitor.web import incident as incident_page
from monitor.web.app import build
from monitor.web.server import WebServer
from monitor.worker import Parts, Worker

_log = structlog.get_logger(__name__)

# The engine comes back to Python after every text: with Python's 5 ms it waits for the other threads' patterns.
SWITCH_SECONDS = 0.0005
Load = Callable[[Settings, Progress, bytes], Scoring]  # how the detectors are made, off the event loop


class App:
    """One worker process. ``run`` returns after SIGTERM or SIGINT; raises when a part has failed for good."""

    def __init__(
        self,
        settings: Settings,
        load: Load = assembly.scoring,
        clock: SteadyClock | None = None,
        *,
        store: Callable[[Settings, Keyring], SqlStore] = assembly.store,
        pagers: Callable[[Settings, Clock], list[Pager]] = assembly.pagers,
    ) -> None:
        """``load``, ``store`` and ``pagers`` make the ways out of the process."""
        self._settings = settings
        self._name = secrets.token_hex(4)  # of this process, among the workers
        self._load = load
        self._clock = clock or SteadyClock()
        self._keys = assembly.keys(settings)
        self._pagers = pagers(settings, self._clock)
        self._web = WebServer(settings.http.host, settings.http.port)
        self._metrics = Metrics()
        self._recorder = Recorder(self._metrics, self._clock.now)
        self._store = store(settings, self._keys.keyring)
        self._common_time = CommonTime(
            self._clock,
            self._store,
            settings.state_dir / "clock.json",
            show=self._recorder.clock_apart,
            looked=partial(self._recorder.alive, "common_time"),
        )
        self._canary_mark = assembly.canary_mark(settings, self._keys.pseudonymiser)
        self._heartbeat = assembly.heartbeat(settings, self._clock)
        self._paging = self._make_paging()
        self._grouping = assembly.grouping(settings, self._paging.links)
        self._relay = Relay(self._store, self._pagers, self._clock, self._recorder, grouping=self._grouping)
        self._publishing = assembly.publishing(settings)
        self._metrics.publishing.set(self._publishing is not None)
        self._tallying = self._make_tallying()
        self._people = People(self._store, self._paging, self._clock, self._relay.wake, self._tallying)
        self._groups = GroupKeeper(
            self._store,
            self._people,
            self._paging,
            self._clock,
            self._relay.wake,
            self._grouping.policy,
            looked=partial(self._recorder.alive, "groups"),
            unreadable=self._recorder.unreadable,
        )
        self._lifeboat: Lifeboat | None = None
        self._source: KafkaSource | None = None
        self._worker: Worker | None = None

    async def run(self, progress: Progress) -> None:
        """Serve health and metrics, decide what falls due and send it at once; prepare the encoder, then read."""
        sys.setswitchinterval(SWITCH_SECONDS)
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        await asyncio.to_thread(prepare_tables, self._settings)
        await self._common_time.begin()
        serving = asyncio.create_task(self._web.run(self._make_web()), name="web")
        ending = asyncio.create_task(stopping.wait(), name="stop")
        sketch_key = self._keys.pseudonymiser.sketch_key
        guard = assembly.guard(
            self._settings,
            lambda: self._loaded(self._load(self._settings, progress, sketch_key)),
            self._clock,
            sketch_key,
            self._metrics.encoder_up.set,
        )
        preparing = asyncio.create_task(self._prepare(guard), name="encoder")
        try:
            self._worker = self._make_worker(guard)
            await self._worker.run(serving, ending, preparing)
        finally:
            ending.cancel()
            preparing.cancel()
            await guard.close()
            self._web.stop()
            await asyncio.gather(serving, return_exceptions=True)
            for pager in self._pagers:
                await pager.close()
            if self._heartbeat is not None:
                await self._heartbeat.close()
            await self._store.close()

    async def _prepare(self, guard: Guard) -> None:
        await guard.start()
        _log.info("ready", worker=self._name, http_port=self._web.port, topic=self._settings.kafka.topic)

    def _loaded(self, scoring: Scoring) -> Scoring:
        """The same, reading styles too, if anybody is there to add them up. In the thread that has loaded it."""
        self._metrics.build.info(assembly.build())
        if self._tallying is not None:
            key = self._keys.pseudonymiser.key(styling.PURPOSE)
            scoring.styling = styling.Styling(key, self._recorder.style_worked)
        return scoring

    def _make_paging(self) -> Paging:
        """Without a public address, links lead to this worker."""
        http = self._settings.http
        public = http.public_url or f"http://{http.host}:{self._web.port}"
        settings = self._settings.model_copy(update={"http": http.model_copy(update={"public_url": public})})
        return assembly.paging(settings, self._keys.links, self._clock, self._settle)

    def _make_web(self) -> Starlette:
        keys = [self._keys.links]
        pages = [
            *incident_page.routes(keys, self._store, self._people, self._clock),
            *group_page.routes(keys, self._store, self._groups, self._paging, self._clock),
        ]
        return build(
            self._metrics.registry,
            partial(self._health, live),
            partial(self._health, ready),
            self._asyncapi,
            pages,
        )

    def _make_worker(self, guard: Guard) -> Worker:
        settings, clock, recorder = self._settings, self._clock, self._recorder
        reading = Reading()
        self._lifeboat = Lifeboat(
            store=self._store,
            pagers=self._pagers,
            paging=self._paging,
            reading=reading,
            clock=clock,
            relay_observer=recorder,
            rewind=self._rewind,
            up=self._metrics.store_up.set,
            looked=partial(recorder.alive, "lifeboat"),
            grouping=self._grouping,
        )
        timers = Timers(
            self._store,
            self._paging,
            reading,
            clock,
            recorder,
            self._relay.wake,
            self._tallying,
            self._lifeboat,
        )
        pipeline = Pipeline(
            reader=assembly.reader(self._keys.pseudonymiser, clock, self._canary_mark),
            scoring=guard,
            store=self._store,
            paging=self._paging,
            reading=reading,
            clock=clock,
            observer=recorder,
            lifeboat=self._lifeboat,
            committed=self._committed,
            tallying=self._tallying,
        )
        kafka = assembly.kafka(settings)
        source = KafkaSource(kafka, pipeline, now=clock.now)
        self._source = source
        topic = DeadLetterTopic(lambda: source.client.broker, kafka.dead_letters)
        reading.caught_up, reading.stuck = source.caught_up, source.stuck
        dead = settings.dead_letters
        return Worker(
            Parts(
                source=source,
                guard=guard,
                desk=DeadLetterDesk(
                    topic, self._keys.keyring, lambda: recorder.alive("dead_letters", clock.now())
                ),
                relay=self._relay,
                timers=timers,
                groups=self._groups,
                lifeboat=self._lifeboat,
                self_watch=SelfWatch(
                    progress=source.progress,
                    store=self._store,
                    call=partial(reading_stalled, settings, worker=self._name),
                    written=self._relay.wake,
                    clock=clock,
                    signs=recorder,
                ),
                canary=self._make_canary(source),
                store=self._store,
                metrics=self._metrics,
                recorder=recorder,
                limit=DeadLetterLimit(DeadLetterPolicy(dead.in_a_row, dead.share, dead.window)),
                clock=clock,
                common_time=self._common_time,
                keep=timedelta(days=settings.retention.days),
                read_to_end=reading.read_to_end,
                figures=Figures(
                    SqlTallies(self._store.database), timedelta(days=settings.publishing.keep_days)
                ),
                line_stopped=partial(line_stopped, settings),
                forgetting=Forgetting(
                    Erasing(self._store.database, self._keys.keyring),
                    People(self._store, self._paging, clock, self._relay.wake),
                    self._paging.policy,
                    clock,
                    keep=timedelta(days=settings.retention.records_days),
                    forget=self._forget,
                    undone=recorder.undone,
                    unreadable=recorder.unreadable,
                ),
                auditor=Auditor(
                    Records(self._store.database, self._keys.keyring),
                    self._paging,
                    clock,
                    recorder,
                    call=partial(records_missing, settings),
                    written=self._relay.wake,
                    period=timedelta(seconds=settings.audit.period_seconds),
                ),
                publisher=self._make_publisher(),
            )
        )

    def _make_tallying(self) -> Tallying | None:
        publishing = self._publishing
        if publishing is None:
            return None
        key = self._keys.pseudonymiser.key(MARKS)
        return Tallying(self._recorder.tally_failed, styles=None if publishing.fold_style is None else key)

    def _make_publisher(self) -> Publisher | None:
        if self._publishing is None:
            return None
        tallies = SqlTallies(self._store.database)
        spent = self._recorder.style_worked
        publisher = Publisher(
            tallies,
            self._clock,
            self._clock.elapsed,
            self._name,
            self._recorder,
            replace(
                self._publishing,
                more=assembly.comparisons(self._settings, tallies, self._store, spent),
            ),
            looked=partial(self._recorder.alive, "publisher"),
        )
        self._metrics.registry.register(publisher)
        return publisher

    def _make_canary(self, source: KafkaSource) -> CanaryLoop | None:
        settings = self._settings
        if not settings.canary.enabled:
            return None
        canary = CanaryLoop(
            book=assembly.canary_book(settings, self._clock),
            mark=self._canary_mark,
            sender=CanaryTopic(lambda: source.client, settings.kafka.topic),
            store=self._store,
            clock=self._clock,
            observer=self._recorder,
            beat=self._heartbeat,
        )
        self._recorder.canary_arrived = canary.arrived
        return canary

    def _committed(self, result: BatchResult) -> None:
        if self._worker is not None:
            self._worker.committed(result)

    def _settle(self, notifications: list[Notification]) -> list[Notification]:
        return notifications if self._lifeboat is None else self._lifeboat.settle(notifications)

    def _forget(self, pseudonyms: Collection[str]) -> None:
        self._recorder.forget(pseudonyms)
        if self._tallying is not None:
            self._tallying.forget(pseudonyms)
        if self._lifeboat is not None:
            self._lifeboat.forget(pseudonyms)

    async def _rewind(self) -> None:
        if self._source is not None:
            self._source.reread()

    def _health(self, judge: Judge) -> Health:
        if self._worker is None:
            return judge(Signs.starting(), self._clock.now())
        return self._worker.health(judge)

    def _asyncapi(self) -> str:
        return "{}" if self._source is None else describe_json(self._source.client)


def prepare_tables(settings: Settings) -> None:
    """SQLite is brought up to date at once; PostgreSQL only by ``jiezhu migrate``, when an operator says so."""
    url = settings.database_url
    if url.startswith("sqlite"):
        make_state_directory(settings)
        migrate(url)
    elif not is_current(url):
        raise ConfigurationError(
            "JIEZHU_DATABASE__URL", "the tables are of an older release; run `jiezhu migrate` first"
        )


def make_state_directory(settings: Settings) -> None:
    try:
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            "JIEZHU_STATE_DIR", f"cannot be made ({error.strerror}); choose a directory that may be written"
        ) from None
