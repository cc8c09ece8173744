"""A whole worker whose encoder takes long: what is due by the clock does not wait for it."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from alerts.delivery import Delivery
from detectors.encoder import EncoderError, Progress
from monitor.app import App
from monitor.crypto.keyring import Keyring
from monitor.demo.ports import free_port
from monitor.health import ready
from monitor.scoring import Scoring
from monitor.settings import Publishing, Settings, load
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.support.fake_pager import FakePager
from tests.support.pages import a_notification
from tests.support.scripted_scorers import ScriptedScoring
from tests.support.until import until

SEAL = "k:" + "11" * 32


class Slow:
    """An encoder that takes until it is let go, a minute at most."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: Exception | None = None

    def __call__(self, _settings: Settings, _progress: Progress, _sketch_key: bytes) -> Scoring:
        self.done.wait(60)
        if self.error is not None:
            raise self.error
        return ScriptedScoring()


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.done.set()


@pytest.fixture
def settings(tmp_path: Path, sqlite_url: str) -> Settings:
    return load(
        None,
        {
            "JIEZHU_STATE_DIR": str(tmp_path / "state"),
            "JIEZHU_DATABASE__URL": sqlite_url,
            "JIEZHU_HTTP__PORT": str(free_port()),
            "JIEZHU_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:9",
            "JIEZHU_PAGERS__CONSOLE": "true",
            "JIEZHU_KEYS__SEAL": SEAL,
            "JIEZHU_KEYS__PSEUDONYM": "22" * 32,
        },
    )


class Site:
    def __init__(self, settings: Settings, slow: Slow) -> None:
        self.pagers: list[FakePager] = []
        self.app = App(settings, slow, pagers=self._make)
        self.running = asyncio.create_task(self.app.run(lambda *_: None))

    def _make(self, _settings: Settings, clock: object) -> list[FakePager]:
        self.pagers = [FakePager("first", clock)]
        return self.pagers

    @property
    def rung(self) -> list[str]:
        return [page.incident for page in self.pagers[0].got]


@pytest.fixture
async def site(settings: Settings, slow: Slow) -> AsyncIterator[Site]:
    pace = sys.getswitchinterval()
    made = Site(settings, slow)
    yield made
    if not made.running.done():
        signal.raise_signal(signal.SIGTERM)
    async with asyncio.timeout(10):
        await asyncio.gather(made.running, return_exceptions=True)
    sys.setswitchinterval(pace)


async def test_a_row_that_is_due_is_sent_while_the_encoder_is_prepared(site, slow, settings):
    store = SqlStore(settings.database_url, Keyring.parse(SEAL))
    now = site.app._clock.now()
    due = a_notification("n-1", route=("first",), created_at=now, delivery=Delivery(("first",), next_at=now))
    await store.commit(Work(notifications=[due]))
    await until(lambda: site.rung == ["n-1"], 2)
    assert not slow.done.is_set()
    alive = site.app._recorder.signs_of_life(["relay", "timers", "groups", "source", "self_watch"])
    assert sorted(alive) == ["groups", "relay", "timers"]
    assert site.app._health(ready).reasons == ("source_preparing_encoder",)
    await store.close()


async def test_it_reads_once_the_encoder_is_there(site, slow):
    await until(lambda: "timers" in site.app._recorder.signs_of_life(["timers"]))
    slow.done.set()
    await until(lambda: "self_watch" in site.app._recorder.signs_of_life(["self_watch"]))
    assert "source_connecting" in site.app._health(ready).reasons


async def test_what_an_operator_must_put_right_ends_the_start(site, slow):
    slow.error = EncoderError("set it right")
    slow.done.set()
    with pytest.raises(EncoderError, match="set it right"):
        async with asyncio.timeout(10):
            await site.running


async def test_it_ends_at_once_when_told_to_amid_the_preparing(site, slow):
    await until(lambda: "timers" in site.app._recorder.signs_of_life(["timers"]))
    signal.raise_signal(signal.SIGTERM)
    async with asyncio.timeout(5):
        await site.running
    assert not slow.done.is_set()


@pytest.mark.parametrize("enabled", [True, False])
async def test_it_shows_whether_it_is_to_publish(settings, slow, enabled):
    """Nobody is missed where all have it switched off: ``JiezhuPublisherMissing``."""
    site = Site(settings.model_copy(update={"publishing": Publishing(enabled=enabled)}), slow)
    shown = generate_latest(site.app._metrics.registry).decode()
    assert f"jiezhu_publishing_enabled {float(enabled)}" in shown
    await until(lambda: "timers" in site.app._recorder.signs_of_life(["timers"]))
    signal.raise_signal(signal.SIGTERM)
    async with asyncio.timeout(5):
        await site.running
