"""Two real workers, as processes of their own, in one consumer group."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx2

from alerts.ports import Clock
from monitor.environment import PREFIX
from monitor.errors import JiezhuError

READY_SECONDS = 90.0
STOP_SECONDS = 30.0  # a worker gives itself 25
RUN = ("-m", "monitor", "run")
_SHARED = f"{PREFIX}ENCODER__"


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Everything but our settings, the encoder's excepted: a real pager must not ring for made-up talk."""
    return {
        name: value
        for name, value in environ.items()
        if not name.upper().startswith(PREFIX) or name.upper().startswith(_SHARED)
    }


class Worker:
    def __init__(
        self, name: str, environment: Mapping[str, str], log: Path, command: Sequence[str] = RUN
    ) -> None:
        """``command``: what Python is given."""
        self.name = name
        self._command = command
        self.url = f"http://127.0.0.1:{environment['JIEZHU_HTTP__PORT']}"
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        if self._process is None:
            raise JiezhuError(f"{self.name} is not running; call start() first")
        return self._process.pid

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, *self._command],
                env={**inherited(os.environ), **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def wait_ready(self) -> None:
        """Return once it reads and can page. Raises JiezhuError with the end of its log."""
        await self._wait_for("/readyz")

    async def wait_serving(self) -> None:
        """Return once it answers at all. Raises as ``wait_ready`` does."""
        await self._wait_for("/livez")

    async def _wait_for(self, path: str) -> None:
        async with httpx2.AsyncClient(timeout=2) as client:
            for _ in range(int(READY_SECONDS / 0.2)):
                if self._process is None or self._process.poll() is not None:
                    break
                try:
                    if (await client.get(f"{self.url}{path}")).status_code == 200:
                        return
                except httpx2.HTTPError:
                    pass
                await asyncio.sleep(0.2)
        last = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise JiezhuError(f"{self.name} does not become ready: {' '.join(last) or 'it said nothing'}")

    def stop(self) -> int | None:
        """End the process that was started, gently first. Return its exit status; None if there was none."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


async def settled(workers: list[Worker], partitions: int, clock: Clock) -> None:
    """Return once the workers share all partitions between them."""
    del clock
    async with httpx2.AsyncClient(timeout=2) as client:
        for _ in range(int(READY_SECONDS / 0.2)):
            counts = [await _partitions(client, worker) for worker in workers]
            if sum(counts) == partitions and all(counts):
                return
            await asyncio.sleep(0.2)
    raise JiezhuError("the workers do not share the partitions; look into their logs")


async def _partitions(client: httpx2.AsyncClient, worker: Worker) -> int:
    answer = await client.get(f"{worker.url}/metrics")
    return sum(line.startswith("jiezhu_source_lag{") for line in answer.text.splitlines())
