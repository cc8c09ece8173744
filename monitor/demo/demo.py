"""``jiezhu demo``: the whole chain on one machine, with scripted conversations. Expected is held against observed."""

from __future__ import annotations

import asyncio
import base64
import secrets
import signal
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx2

from alerts.incident import Incident
from monitor import assembly
from monitor.clock import SystemClock
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.demo.broker import EmbeddedBroker, create_topic, free_port
from monitor.demo.pager import FakePager, Received
from monitor.demo.player import Player, conversation_id
from monitor.demo.script import SCENES, Scene
from monitor.demo.show import Show
from monitor.demo.workers import Worker, settled
from monitor.progress_bar import progress_bar
from monitor.settings import Settings, load
from monitor.store.migration import migrate

PARTITIONS = 4
TOPIC = "turns"
REPLY_DEADLINE = 12.0
IMMINENT_DEADLINE = 6.0
GRACE = 2.0
PATIENCE = timedelta(seconds=60)  # for pages that are due and do not come
CALM = timedelta(seconds=4)  # for pages that must not come


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of one scene."""

    scene: Scene
    outcome: str | None
    pages: int
    tickets: int
    seconds: float | None  # from the event that decided it to the page

    @property
    def as_expected(self) -> bool:
        expected = self.scene.outcome.value if self.scene.outcome else None
        return (self.outcome, self.pages, self.tickets) == (expected, self.scene.pages, self.scene.tickets)


class Demo:
    def __init__(self, show: Show, folder: Path) -> None:
        self.clock = SystemClock()
        self.show = show
        self.folder = folder
        self.secret = secrets.token_hex(16)
        self.pseudonym_key = _key()
        self.seal_key = f"demo:{_key()}"
        self.pager = FakePager(self.secret.encode(), self.clock, self._heard)
        self.received: list[Received] = []
        self.changed = asyncio.Event()
        pseudonymiser = Pseudonymiser.parse(self.pseudonym_key)
        self.scene_of = {
            pseudonymiser.pseudonym(Kind.CONVERSATION, conversation_id(scene)): scene for scene in SCENES
        }
        self.player: Player | None = None

    def environment(self, bootstrap_servers: str, port: int) -> dict[str, str]:
        return {
            "JIEZHU_STATE_DIR": str(self.folder),
            "JIEZHU_KAFKA__BOOTSTRAP_SERVERS": bootstrap_servers,
            "JIEZHU_KAFKA__TOPIC": TOPIC,
            "JIEZHU_KAFKA__SESSION_TIMEOUT_MS": "3000",  # the embedded broker's rebalances take half of it
            "JIEZHU_KEYS__PSEUDONYM": self.pseudonym_key,
            "JIEZHU_KEYS__SEAL": self.seal_key,
            "JIEZHU_PAGERS__WEBHOOK__URL": self.pager.url,
            "JIEZHU_PAGERS__WEBHOOK__SECRET": self.secret,
            "JIEZHU_HTTP__PORT": str(port),
            "JIEZHU_WATCHING__GRACE_SECONDS": str(GRACE),
            "JIEZHU_WATCHING__REPLY_DEADLINE_SECONDS": str(REPLY_DEADLINE),
            "JIEZHU_WATCHING__IMMINENT_REPLY_DEADLINE_SECONDS": str(IMMINENT_DEADLINE),
        }

    async def run(self, stack: AsyncExitStack, *, keep: bool) -> int:
        """Play once; return the exit status."""
        broker = stack.enter_context(EmbeddedBroker())
        await create_topic(broker.bootstrap_servers, TOPIC, PARTITIONS)
        await create_topic(broker.bootstrap_servers, f"{TOPIC}.dead", 1)
        self.pager.start()
        stack.push_async_callback(self.pager.stop)
        environments = [self.environment(broker.bootstrap_servers, free_port()) for _ in range(2)]
        settings = load(None, environments[0])
        await asyncio.to_thread(migrate, settings.database_url)
        workers = [
            Worker(f"worker {n}", environment, self.folder / f"worker-{n}.log")
            for n, environment in enumerate(environments, 1)
        ]
        for worker in workers:
            worker.start()
            stack.callback(worker.stop)
        self.show.note("starting two workers over the embedded broker …")
        await asyncio.gather(*(worker.wait_ready() for worker in workers))
        await settled(workers, PARTITIONS, self.clock)
        self.show.note(f"playing {len(SCENES)} conversations; pages come to a pager on loopback")
        self.player = Player(broker.bootstrap_servers, TOPIC, self.clock)
        await self.player.play(SCENES, poison=3.0)
        await self._until_calm()
        acknowledged = await self._acknowledge_one()
        observed = await self._observe(settings)
        good = self._report(observed, acknowledged=acknowledged, addresses=[worker.url for worker in workers])
        if keep:
            self.show.note("serving on; end with Ctrl-C")
            await asyncio.Event().wait()
        return 0 if good else 1

    async def _heard(self, received: Received) -> None:
        self.received.append(received)
        if received.first and received.content["kind"] in ("page", "ticket"):
            scene = self._scene(received)
            self.show.page(received, scene, self._seconds(received, scene))
        self.changed.set()

    def _scene(self, received: Received) -> Scene | None:
        prefix = str(received.content["incident"]).removeprefix("jz-").rpartition("-")[0]
        return next(
            (scene for key, scene in self.scene_of.items() if prefix and key.startswith(prefix)), None
        )

    def _seconds(self, received: Received, scene: Scene | None) -> float | None:
        decided = self.player.decided_at.get(conversation_id(scene)) if self.player and scene else None
        return (received.at - decided).total_seconds() if decided else None

    def _count(self, kind: str) -> Counter[str]:
        """Distinct pages or tickets by scene."""
        told = [r for r in self.received if r.first and r.content["kind"] == kind]
        return Counter(scene.name for received in told if (scene := self._scene(received)))

    async def _until_calm(self) -> None:
        """Wait for what must come, then a little for what must not."""
        end = self.clock.now() + PATIENCE
        while self.clock.now() < end and not self._all_told():
            self.changed.clear()
            try:
                async with asyncio.timeout(1):
                    await self.changed.wait()
            except TimeoutError:
                continue
        await self.clock.sleep(CALM)

    def _all_told(self) -> bool:
        pages, tickets = self._count("page"), self._count("ticket")
        return all(pages[s.name] >= s.pages and tickets[s.name] >= s.tickets for s in SCENES)

    async def _acknowledge_one(self) -> str | None:
        """Press the button behind a page's signed link, as the person who was rung would."""
        link = next((r.content["ack_link"] for r in self.received if r.content.get("ack_link")), None)
        if link is None:
            return None
        async with httpx2.AsyncClient(timeout=5) as client:
            answer = await client.post(link)
        incident = next(r.content["incident"] for r in self.received if r.content.get("ack_link") == link)
        return str(incident) if answer.status_code == 200 else None

    async def _observe(self, settings: Settings) -> list[Observed]:
        store = assembly.store(settings, assembly.keys(settings).keyring)
        try:
            found = await store.incidents(open_only=False, limit=1000)
        finally:
            await store.close()
        by_scene: dict[str, Incident] = {
            scene.name: incident
            for incident in found
            if (scene := self.scene_of.get(incident.conversation)) is not None
        }
        pages, tickets = self._count("page"), self._count("ticket")
        times = {
            scene.name: self._seconds(received, scene)
            for received in reversed(self.received)
            if received.content["kind"] in ("page", "ticket") and (scene := self._scene(received))
        }
        return [
            Observed(
                scene,
                _outcome(by_scene.get(scene.name)),
                pages[scene.name],
                tickets[scene.name],
                times.get(scene.name),
            )
            for scene in SCENES
        ]

    def _report(self, observed: list[Observed], *, acknowledged: str | None, addresses: list[str]) -> bool:
        good = all(one.as_expected for one in observed)
        self.show.summary(observed, good=good)
        if acknowledged is not None:
            self.show.note(f"one page was acknowledged through its signed link ({acknowledged})")
        self.show.addresses(addresses)
        return good


def _outcome(incident: Incident | None) -> str | None:
    return incident.outcome.value if incident is not None and incident.outcome is not None else None


def _key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


async def play(*, keep: bool, json: bool) -> int:
    """Prepare the encoder with a progress bar, then play in a folder that is thrown away."""
    show = Show(json=json)
    main = asyncio.current_task()
    if main is not None:  # the workers must not outlive us
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main.cancel)
    await asyncio.to_thread(_prepare)
    with tempfile.TemporaryDirectory(prefix="jiezhu-demo-") as folder:
        async with AsyncExitStack() as stack:
            return await Demo(show, Path(folder)).run(stack, keep=keep)


def _prepare() -> None:
    settings = load(None, {})
    with progress_bar() as progress:
        assembly.scoring(settings, progress).close()
