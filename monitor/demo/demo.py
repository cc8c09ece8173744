"""``jiezhu demo``: the whole chain on one machine, with scripted conversations. Expected is held against observed."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx2

from alerts.incident import Incident
from detectors.crisis.model import SHIPPED
from detectors.encoder import prepare
from monitor.clock import SystemClock
from monitor.demo.pager import Received
from monitor.demo.player import Player, conversation_id
from monitor.demo.script import SCENES, Scene
from monitor.demo.show import Show
from monitor.demo.stage import TOPIC, Stage, conversation_prefix
from monitor.demo.workers import inherited
from monitor.progress_bar import progress_bar
from monitor.settings import Settings, load

WATCHING = {
    "grace_seconds": 2.0,
    "reply_deadline_seconds": 12.0,
    "imminent_reply_deadline_seconds": 6.0,
}
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
        self.stage = Stage(folder, self.clock, self._heard, WATCHING)
        self.received: list[Received] = []
        self.changed = asyncio.Event()
        self.scene_of = {self.stage.pseudonym(conversation_id(scene)): scene for scene in SCENES}
        self.player: Player | None = None

    async def run(self, stack: AsyncExitStack, *, keep: bool) -> int:
        """Play once; return the exit status."""
        await self.stage.open(stack)
        workers = self.stage.start_workers(stack, 2)
        self.show.note("starting two workers over the embedded broker …")
        await self.stage.wait_for(workers)
        self.show.addresses([worker.url for worker in workers])
        self.show.note(
            f"playing {len(SCENES)} conversations; here a reply is due within "
            f"{WATCHING['reply_deadline_seconds']:g} s instead of 60 s, "
            f"and {WATCHING['imminent_reply_deadline_seconds']:g} s instead of 30 s when somebody may act at any moment"
        )
        self.player = Player(self.stage.broker.bootstrap_servers, TOPIC, self.clock)
        await self.player.play(SCENES, poison=3.0)
        await self._until_calm()
        acknowledged = await self._acknowledge_one()
        observed = await self._observe(self.stage.settings())
        good = self._report(observed, acknowledged=acknowledged)
        if keep:
            self.show.note("serving on at the addresses above; end with Ctrl-C")
            await asyncio.Event().wait()
        return 0 if good else 1

    async def _heard(self, received: Received) -> None:
        self.received.append(received)
        if received.first and received.content["kind"] in ("page", "ticket"):
            scene = self._scene(received)
            self.show.page(received, scene, self._seconds(received, scene))
        self.changed.set()

    def _scene(self, received: Received) -> Scene | None:
        prefix = conversation_prefix(received)
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
        from monitor import assembly  # noqa: PLC0415 - seconds of imports that the workers would wait for

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

    def _report(self, observed: list[Observed], *, acknowledged: str | None) -> bool:
        good = all(one.as_expected for one in observed)
        self.show.summary(observed, good=good)
        if acknowledged is not None:
            self.show.note(f"one page was acknowledged through its signed link ({acknowledged})")
        return good


def _outcome(incident: Incident | None) -> str | None:
    return incident.outcome.value if incident is not None and incident.outcome is not None else None


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
    """Only what was never prepared: else each worker would do it for itself, and nobody would see how far it is."""
    given = load(None, inherited(os.environ)).encoder
    with progress_bar() as progress:
        prepare(given.source, given.cache_dir, progress, SHIPPED)
