"""Real workers, as processes of their own, over a broker and a database, ringing pagers on loopback."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import orjson
from sqlalchemy import NullPool, create_engine, text

from monitor.clock import SystemClock
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.demo.broker import create_topic
from monitor.demo.pager import FakePager, Received
from monitor.demo.player import Player, conversation_id
from monitor.demo.ports import free_port
from monitor.demo.script import Scene
from monitor.demo.workers import Worker, settled
from monitor.store.url import parse
from tests.support.forked import ForkedWorker
from tests.support.kafka import Broker
from tests.support.ledger import Ledger
from tests.support.quick_worker import PACE
from tests.support.until import until

SECRET = "a secret for tests on loopback"
PARTITIONS = 4
Maker = Callable[[str, Mapping[str, str], Path], Worker]


@dataclass(frozen=True, slots=True)
class Ring:
    """A request that reached a pager; ``worker`` sent it."""

    worker: Worker
    at: datetime
    content: dict[str, Any]

    @property
    def key(self) -> str:
        return str(self.content["dedup_key"])


class Crew:
    """``settings`` are environment names without the prefix; they hold for every worker."""

    def __init__(
        self,
        broker: Broker,
        topic: str,
        folder: Path,
        cache: Path | None,
        database: str,
        settings: dict[str, str],
    ) -> None:
        self._make: Maker = Worker if cache else ForkedWorker
        self.broker = broker
        self.topic = topic
        self.state = folder / "state"
        self.logs = folder / "logs"
        self.state.mkdir(exist_ok=True)
        self.logs.mkdir(exist_ok=True)
        self.database = database
        self.clock = SystemClock()
        self.workers: list[Worker] = []
        self.rings: list[Ring] = []
        self.heard: Callable[[Ring], None] = lambda _: None  # called before the worker gets its answer
        self.player = Player(broker.bootstrap_servers, topic, self.clock)
        self._names: dict[str, str] = {}
        self.pagers: list[FakePager] = []
        key = _key()
        self.pseudonymiser = Pseudonymiser.parse(key)
        self.common = {  # settings of every worker, without the prefix
            "STATE_DIR": str(self.state),
            "DATABASE__URL": database,
            "ENCODER__CACHE_DIR": str(cache or folder),
            "KAFKA__BOOTSTRAP_SERVERS": broker.bootstrap_servers,
            "KAFKA__TOPIC": topic,
            "KAFKA__GROUP_ID": topic,
            "KAFKA__SESSION_TIMEOUT_MS": str(broker.settings(topic).session_timeout_ms),
            "KEYS__PSEUDONYM": key,
            "KEYS__SEAL": f"test:{_key()}",
            "PAGERS__WEBHOOK__SECRET": SECRET,
            # a page an incident, however many there are: what a ledger counts
            "GROUPING__REQUESTS_PER_MINUTE": "1000000",
            "GROUPING__SINGLE_PAGES": "1000000",
            **settings,
        }

    def add(
        self, *, as_is: Mapping[str, str] = MappingProxyType({}), make: Maker | None = None, **settings: str
    ) -> Worker:
        """Start one more worker, with a pager of its own unless ``settings`` name another.

        ``as_is`` goes into its environment under full names: what is no setting of the product. ``make``
        makes the worker, if it is to be of another kind than the others.
        """
        number = len(self.workers) + 1
        pager = FakePager(SECRET.encode(), self.clock, self._hearing(number - 1))
        pager.start()
        self.pagers.append(pager)
        environment = {
            **self.common,
            "HTTP__PORT": str(free_port()),
            "PAGERS__WEBHOOK__URL": pager.url,
            **settings,
        }
        worker = (make or self._make)(
            f"worker {number}",
            {f"JIEZHU_{name}": value for name, value in environment.items()} | as_is,
            self.logs / f"worker-{number}.log",
        )
        self.workers.append(worker)
        worker.start()
        return worker

    async def ready(self) -> None:
        """Returns once all workers read, and share the partitions between them."""
        await asyncio.gather(*(worker.wait_ready() for worker in self.workers))
        await settled(self.workers, PARTITIONS, self.clock)

    async def play(self, scenes: tuple[Scene, ...]) -> None:
        """Put scenes into Kafka at their times; the record that nobody can read is among them."""
        for scene in scenes:
            self._know(conversation_id(scene))
        await self.player.play(scenes, poison=1.0)

    def pace(self, seconds: float) -> None:
        """Let every text take a quick worker so long, from now on."""
        scratch = self.state / f"{PACE}.new"
        scratch.write_text(str(seconds), encoding="ascii")
        scratch.replace(self.state / PACE)

    def know(self, conversations: Iterable[str]) -> None:
        """Their pages can be told by name from here on."""
        for conversation in conversations:
            self._know(conversation)

    def hear_into(self, ledger: Ledger) -> None:
        """Write every page about a person down, before the worker gets its answer."""

        def heard(ring: Ring) -> None:
            if ring.content["kind"] == "page" and not ring.content.get("trouble"):
                ledger.hear(self.conversation(ring), ring.key, ring.at, ring.content["step"])

        self.heard = heard

    def conversation(self, ring: Ring) -> str:
        """Who a page is about; its own words where that is nobody we know."""
        prefix = str(ring.content["incident"]).removeprefix("jz-").rpartition("-")[0]
        return self._names.get(prefix, f"unknown: {ring.content['incident']}")

    def hidden(self, conversation: str) -> str:
        """The key of a case."""
        return self.pseudonymiser.pseudonym(Kind.CONVERSATION, conversation)

    def rung(self) -> dict[str, set[str]]:
        """The distinct keys of pages, by conversation."""
        found: dict[str, set[str]] = {}
        for ring in self.pages():
            found.setdefault(self.conversation(ring), set()).add(ring.key)
        return found

    def pages(self) -> list[Ring]:
        return [ring for ring in self.rings if ring.content["kind"] == "page"]

    def repeats(self) -> Counter[str]:
        """Requests beyond the first, by key."""
        return Counter(ring.key for ring in self.pages()) - Counter({ring.key for ring in self.pages()})

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Ask the database, beside the workers."""
        engine = create_engine(parse(self.database), poolclass=NullPool)
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement))]

    def first_pages(self) -> list[str]:
        """How each first page of the outbox stands: what nobody answers is told of anew after five minutes."""
        rows = self.rows("SELECT page, delivery FROM outbox WHERE NOT calm")
        bodies = [(orjson.loads(page)["body"], orjson.loads(delivery)["body"]) for page, delivery in rows]
        return [delivery["state"] for page, delivery in bodies if page["step"] == 0]

    def read(self) -> int:
        """How many records are in the database, as the positions say."""
        [(count,)] = self.rows("SELECT coalesce(sum(next), 0) FROM positions")
        return int(count)

    async def until_all_read(self, records: int, within: float = 30) -> None:
        await until(lambda: self.read() == records, within, 0.1)

    async def until_settled(self, within: float = 30) -> None:
        """Returns once nobody waits for a pager's answer."""
        await until(
            lambda: self.rows("SELECT count(*) FROM outbox WHERE due_at IS NOT NULL") == [(0,)], within, 0.1
        )

    async def close(self) -> None:
        await asyncio.gather(*(asyncio.to_thread(worker.stop) for worker in self.workers))
        for pager in self.pagers:
            await pager.stop()

    def _know(self, conversation: str) -> None:
        hidden = self.pseudonymiser.pseudonym(Kind.CONVERSATION, conversation)
        self._names[hidden[:20]] = conversation

    def _hearing(self, index: int) -> Callable[[Received], Awaitable[None]]:
        async def heard(received: Received) -> None:
            ring = Ring(self.workers[index], received.at, received.content)
            self.rings.append(ring)
            self.heard(ring)

        return heard


def due(scenes: Iterable[Scene]) -> set[str]:
    """The conversations that somebody must be paged for."""
    return {conversation_id(scene) for scene in scenes if scene.pages}


def records(scenes: Iterable[Scene]) -> int:
    """How many records a play sends: each turn, and one that nobody can read."""
    return sum(len(scene.says) for scene in scenes) + 1


async def get(url: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=5) as client:
        return await client.get(url)


async def until_health(worker: Worker, good: Callable[[dict[str, Any]], bool], within: float) -> None:
    """Returns once what ``/readyz`` says is ``good``."""
    async with asyncio.timeout(within):
        while True:
            if good((await get(f"{worker.url}/readyz")).json()):
                return
            await asyncio.sleep(0.1)


@asynccontextmanager
async def crew(
    broker: Broker, folder: Path, cache: Path | None, database: str, **settings: str
) -> AsyncIterator[Crew]:
    """Nobody is in it yet; all who are added end with the block.

    Without a ``cache`` of the encoder the workers are quick ones: they judge a text by its marker.
    """
    topic = await broker.topic(PARTITIONS)
    await create_topic(broker.bootstrap_servers, f"{topic}.dead", 1)
    made = Crew(broker, topic, folder, cache, database, settings)
    try:
        yield made
    finally:
        await made.close()


def _key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
