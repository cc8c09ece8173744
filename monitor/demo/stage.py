"""What a run on one machine needs: an embedded broker, keys, a pager on loopback, and real workers in one group."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from alerts.ports import Clock
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.demo.broker import EmbeddedBroker, create_topic
from monitor.demo.pager import FakePager, Received
from monitor.demo.ports import free_port
from monitor.demo.workers import Worker, settled
from monitor.settings import Settings, load
from monitor.store.migration import migrate

PARTITIONS = 4
TOPIC = "turns"


class Stage:
    """``watching`` are settings below ``JIEZHU_WATCHING__``; all state lies in ``folder``."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        heard: Callable[[Received], Awaitable[None]],
        watching: Mapping[str, float],
    ) -> None:
        self.folder = folder
        self.broker = EmbeddedBroker()
        self._clock = clock
        self._secret = secrets.token_hex(16)
        self._pager = FakePager(self._secret.encode(), clock, heard)
        self._pseudonym_key = _key()
        self._seal_key = f"demo:{_key()}"
        self._watching = watching
        self._pseudonymiser = Pseudonymiser.parse(self._pseudonym_key)

    async def open(self, stack: AsyncExitStack) -> None:
        """Start broker and pager, make the topics and the tables; ``stack`` ends them."""
        stack.enter_context(self.broker)
        self._pager.start()
        stack.push_async_callback(self._pager.stop)
        await create_topic(self.broker.bootstrap_servers, TOPIC, PARTITIONS)
        await create_topic(self.broker.bootstrap_servers, f"{TOPIC}.dead", 1)
        await asyncio.to_thread(migrate, self.settings().database_url)

    def start_workers(self, stack: AsyncExitStack, count: int) -> list[Worker]:
        """Start worker processes; ``stack`` ends them."""
        workers = []
        for number in range(1, count + 1):
            environment = self._environment(free_port())
            worker = Worker(f"worker {number}", environment, self.folder / f"worker-{number}.log")
            worker.start()
            stack.callback(worker.stop)
            workers.append(worker)
        return workers

    async def wait_for(self, workers: list[Worker]) -> None:
        """Return once they read and share the partitions. Raises JiezhuError."""
        await asyncio.gather(*(worker.wait_ready() for worker in workers))
        await settled(workers, PARTITIONS, self._clock)

    def settings(self) -> Settings:
        """As the workers see them."""
        return load(None, self._environment(free_port()))

    def pseudonym(self, conversation: str) -> str:
        return self._pseudonymiser.pseudonym(Kind.CONVERSATION, conversation)

    def _environment(self, port: int) -> dict[str, str]:
        return {
            "JIEZHU_STATE_DIR": str(self.folder),
            "JIEZHU_KAFKA__BOOTSTRAP_SERVERS": self.broker.bootstrap_servers,
            "JIEZHU_KAFKA__TOPIC": TOPIC,
            "JIEZHU_KAFKA__SESSION_TIMEOUT_MS": "3000",  # the embedded broker's rebalances take half of it
            "JIEZHU_KEYS__PSEUDONYM": self._pseudonym_key,
            "JIEZHU_KEYS__SEAL": self._seal_key,
            "JIEZHU_PAGERS__WEBHOOK__URL": self._pager.url,
            "JIEZHU_PAGERS__WEBHOOK__SECRET": self._secret,
            "JIEZHU_HTTP__PORT": str(port),
            **{f"JIEZHU_WATCHING__{name.upper()}": str(value) for name, value in self._watching.items()},
        }


def conversation_prefix(received: Received) -> str:
    """The part of the conversation's pseudonym that a page tells; empty for one that is about no conversation."""
    return str(received.content["incident"]).removeprefix("jz-").rpartition("-")[0]


def _key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()
