"""Row 19: every part is stopped or frozen, and somebody outside sees it within two minutes (R63)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from aiokafka import AIOKafkaProducer

from alerts.page import Trouble
from monitor.demo.broker import create_topic
from monitor.demo.workers import Worker
from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.freezable import DEAF, DETECTOR, FREEZE, HANDLER, WEB
from tests.support.kafka import Broker
from tests.support.prometheus import Prometheus, needs, running
from tests.support.scripted_server import ScriptedServer, Status
from tests.support.stream import exchange
from tests.support.until import until

pytestmark = [
    pytest.mark.promise,
    pytest.mark.xdist_group("patience"),
    needs("prometheus"),
]

BOUND = 120.0
PROCESS, TOKEN = "process", "token"  # SIGSTOP of the worker; every pager says 401
LOOPS = ("relay", "timers", "lifeboat", "heartbeat", "dead_letters", "self_watch", "canary")
ALERTS = {
    **dict.fromkeys(LOOPS, "JiezhuPartStuck"),
    "source": "JiezhuReadingStalled",
    HANDLER: "JiezhuReadingStalled",
    DETECTOR: "JiezhuDetectorIdle",
    DEAF: "JiezhuCanaryMissing",
    TOKEN: "JiezhuPagerUnreachable",
    WEB: "JiezhuWorkerDown",
    PROCESS: "JiezhuWorkerDown",
}
REASONS = {
    **{part: f"{part}_stalled" for part in LOOPS},
    "source": "reading_stalled_source_stuck",
    HANDLER: "reading_stalled_batch_hangs",
    DETECTOR: "detector_idle",
}
# With one of these frozen no canary gets through, so that the service outside misses its heartbeat as well.
IN_THE_WAY = frozenset({HANDLER, "relay", "timers", "canary", DETECTOR, DEAF, TOKEN, PROCESS})
# Parts that are seen apart from each other may freeze in one worker.
TOGETHER = (
    ("source", "lifeboat", "dead_letters"),
    (HANDLER,),
    ("relay", "heartbeat"),
    ("timers", "self_watch"),
    (DETECTOR, "canary"),
    (DEAF,),
    (TOKEN,),
    (WEB,),
    (PROCESS,),
)
READYZ, CALL, BEAT = "/readyz", "its own page", "no heartbeat outside"
EVERY = 10
BEAT_DUE = 5.0 * EVERY  # the service outside is patient


@dataclass
class Patient:
    """One worker with a topic, a group and a database of its own, and by what its trouble was seen, and when."""

    parts: tuple[str, ...]
    worker: Worker
    topic: str
    state: Path
    seen: dict[tuple[str, str], float] = field(default_factory=dict)  # part, how → seconds after it froze

    @property
    def name(self) -> str:
        return "-".join(self.parts) or "well"

    @property
    def job(self) -> str:
        """Those that share a job answer for each other's canaries."""
        return "jiezhu-deaf" if DEAF in self.parts else "jiezhu"

    @property
    def instance(self) -> str:
        return self.worker.url.removeprefix("http://")

    @property
    def due(self) -> set[tuple[str, str]]:
        """What must be seen of it."""
        ways = {(part, ALERTS[part]) for part in self.parts}
        ways |= {(part, BEAT) for part in self.parts if part in IN_THE_WAY}
        ways |= {(part, READYZ) for part in self.parts if part in REASONS and part != "heartbeat"}
        return ways | {(part, CALL) for part in self.parts if part == HANDLER}

    def ways(self, alerts: list[dict[str, str]], reasons: list[str]) -> Iterator[tuple[str, str]]:
        for labels in alerts:
            if self._mine(labels):
                told = labels.get("part", "")
                named = [part for part in self.parts if part == told]
                for part in named or [p for p in self.parts if ALERTS[p] == labels["alertname"]] or [""]:
                    yield part, labels["alertname"]
        for part in self.parts or ("",):
            if REASONS.get(part, "nothing") in reasons or (reasons and not self.parts):
                yield part, READYZ

    def _mine(self, labels: dict[str, str]) -> bool:
        return (
            labels.get("instance") == self.instance
            or labels.get("pager") == f"{self.name}-people"
            or (labels["alertname"] == ALERTS[DEAF] and labels["job"] == self.job != "jiezhu")
        )


class Ward:
    """All patients, the one that stays well, and who watches them: Prometheus, pagers, a heartbeat service."""

    def __init__(self, team: Crew, folder: Path) -> None:
        self._team = team
        self._folder = folder
        self._last: dict[str, tuple[int, float]] = {}  # beats, and when the newest came
        self.outside, self.pagers, self.token = ScriptedServer(), ScriptedServer(), ScriptedServer()
        self.patients: list[Patient] = []

    async def admit(self, parts: tuple[str, ...]) -> None:
        broker = self._team.broker
        topic = await broker.topic(1)
        await create_topic(broker.bootstrap_servers, f"{topic}.dead", 1)
        name = "-".join(parts) or "well"
        state = self._folder / name
        state.mkdir()
        (state / FREEZE).touch()
        pagers = self.token if TOKEN in parts else self.pagers
        own = {"kind": "webhook", "secret": "made up", "url": f"{pagers.url}/canary/{name}"}
        worker = self._team.add(
            KAFKA__TOPIC=topic,
            KAFKA__GROUP_ID=topic,
            KAFKA__LINGER_MS="500",
            STATE_DIR=str(state),
            DATABASE__URL=f"sqlite:///{state / 'jiezhu.sqlite'}",
            WATCHING__GRACE_SECONDS="0.5",
            CANARY__ENABLED="true",
            CANARY__EVERY_SECONDS=str(EVERY),
            CANARY__WITHIN_SECONDS="30",
            CANARY__PAGER="apart",
            CANARY__HEARTBEAT_URL=f"{self.outside.url}/{name}",
            PAGERS__NAMED=orjson.dumps({"apart": own}).decode(),
            PAGERS__WEBHOOK__URL=f"{pagers.url}/people/{name}",
            PAGERS__WEBHOOK__NAME=f"{name}-people",
        )
        self.patients.append(Patient(parts, worker, topic, state))

    def freeze(self) -> None:
        self.token.script(then=Status(401))
        for one in self.patients:
            (one.state / FREEZE).write_text(" ".join(one.parts), encoding="utf-8")
            if PROCESS in one.parts:
                os.kill(one.worker.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for one in self.patients:
            if PROCESS in one.parts:
                os.kill(one.worker.pid, signal.SIGCONT)

    async def talk(self) -> None:
        """People write all the time, and now and then somebody is let down."""
        producer = AIOKafkaProducer(bootstrap_servers=self._team.broker.bootstrap_servers)
        await producer.start()
        try:
            for round_ in range(10_000):
                now = datetime.now(UTC)
                for one in self.patients:
                    said = [exchange(f"{one.name} {round_} {n}", "hello", "chat", now) for n in range(4)]
                    if round_ % 3 == 0:
                        said.append(exchange(f"{one.name} {round_} dropped", "crisis", "sleep tip", now))
                    for turn in (turn for both in said for turn in both):
                        await producer.send(one.topic, turn.value(), key=turn.conversation.encode())
                await asyncio.sleep(5)
        finally:
            await producer.stop()

    def beats(self) -> Counter[str]:
        counts = Counter(request.target.strip("/") for request in self.outside.requests)
        now = time.monotonic()
        for name, count in counts.items():
            if self._last.get(name, (0, 0.0))[0] != count:
                self._last[name] = (count, now)
        return counts

    def _calls(self, name: str) -> bool:
        """Somebody was called because of the worker's own reading."""
        bodies = [r.json() for r in self.pagers.requests if r.target == f"/people/{name}"]
        return any(body["trouble"] == Trouble.READING_STALLED.value for body in bodies)

    async def look(self, prometheus: Prometheus, client: httpx2.AsyncClient, begun: float) -> None:
        self.beats()
        alerts = await asyncio.to_thread(prometheus.alerts)
        firing = [alert["labels"] for alert in alerts if alert["state"] == "firing"]
        told = await asyncio.gather(*(_reasons(client, one.worker) for one in self.patients))
        now = time.monotonic()
        for one, reasons in zip(self.patients, told, strict=True):
            found = set(one.ways(firing, reasons))
            if now - self._last[one.name][1] > BEAT_DUE:
                found |= {(part, BEAT) for part in one.parts if part in IN_THE_WAY} or {("", BEAT)}
            if self._calls(one.name):
                found |= {(part, CALL) for part in one.parts or ("",)}
            for way in found:
                one.seen.setdefault(way, now - begun)


async def _reasons(client: httpx2.AsyncClient, worker: Worker) -> list[str]:
    with suppress(httpx2.HTTPError):
        return (await client.get(f"{worker.url}/readyz")).json()["reasons"]
    return []


async def test_every_part_that_freezes_is_seen_from_outside(
    broker: Broker, tmp_path: Path, form: Form, tell: Tell
) -> None:
    patients = []
    for number, groups in enumerate(form.pick([TOGETHER], [TOGETHER, *_few_at_once()])):
        folder = tmp_path / str(number)
        folder.mkdir()
        patients += await _round(broker, folder, groups)
    for one in patients:
        for part in one.parts or ("",):
            ways = sorted((s, how) for (of, how), s in one.seen.items() if of == part)
            told = ", ".join(f"{how} {seconds:.0f} s" for seconds, how in ways)
            tell(19, f"{part or 'nothing'} freezes", told or "nothing is seen")
    for one in patients:
        if not one.parts:
            assert not one.seen
        assert one.due <= one.seen.keys()
        assert all(one.seen[way] <= BOUND for way in one.due), one.seen
        assert one.seen.get((HANDLER, CALL), 0) <= 60


def _few_at_once() -> list[list[tuple[str, ...]]]:
    """Each part by itself."""
    alone = [(part,) for part in ALERTS]
    return [alone[:7], alone[7:]]


async def _round(broker: Broker, folder: Path, groups: Any) -> list[Patient]:
    async with AsyncExitStack() as stack:
        team = await stack.enter_async_context(
            crew(broker, folder, None, f"sqlite:///{folder / 'unused.sqlite'}")
        )
        ward = Ward(team, folder)
        for server, status in ((ward.outside, 200), (ward.pagers, 202), (ward.token, 202)):
            await stack.enter_async_context(server)
            server.script(then=Status(status))
        for parts in ((), *groups):
            await ward.admit(parts)
        await asyncio.gather(*(one.worker.wait_ready() for one in ward.patients))
        talking = asyncio.create_task(ward.talk())
        stack.push_async_callback(_end, talking)
        stack.callback(ward.thaw)
        apart = {one.job: one.instance for one in ward.patients if one.job != "jiezhu"}
        shared = [one.instance for one in ward.patients if one.job == "jiezhu"]
        prometheus = stack.enter_context(running(folder, *shared, apart=apart, every=5))
        client = await stack.enter_async_context(httpx2.AsyncClient(timeout=2))
        await until(lambda: len(ward.beats()) == len(ward.patients), 90, 0.5)  # each canary came through once
        begun = time.monotonic()
        ward.freeze()
        while time.monotonic() - begun < BOUND + 5:
            await ward.look(prometheus, client, begun)
            if all(one.due <= one.seen.keys() for one in ward.patients):
                break
            await asyncio.sleep(2)
        return ward.patients


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
