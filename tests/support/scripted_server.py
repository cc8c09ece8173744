"""A receiver on loopback that answers as it was told, the bad ways included.

    async with ScriptedServer() as server:
        server.script(Status(500), Hang(), then=Status(202))
        ...
        assert server.requests[0].json()["dedup_key"] == "i-1"

Each request takes the next step; when there are none left, ``then`` answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import h11
import orjson
import pytest


@dataclass(frozen=True)
class Status:
    """An ordinary answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Hang:
    """The request is read; nothing comes back, and the connection stays open."""


@dataclass(frozen=True)
class Cut:
    """The request is read, then the connection is cut: the answer is lost."""


@dataclass(frozen=True)
class Drip:
    """The answer comes byte by byte and is never complete, though no single wait is long."""

    pause: float = 0.01


@dataclass(frozen=True)
class HugeBody:
    """A status, then a body without end."""

    status: int = 202


@dataclass(frozen=True)
class Garbage:
    """Something that is not HTTP."""


Step = Status | Hang | Cut | Drip | HugeBody | Garbage


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body)


class ScriptedServer:
    """With ``tls`` it speaks HTTPS; ``present`` shows another certificate from the next connection on."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.requests: list[Received] = []
        self._steps: list[Step] = []
        self._then: Step = Status(200)
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def script(self, *steps: Step, then: Step | None = None) -> None:
        self._steps = list(steps)
        if then is not None:
            self._then = then

    def present(self, pem: Path) -> None:
        assert self._tls is not None
        self._tls.load_cert_chain(pem)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, h11.RemoteProtocolError, asyncio.CancelledError):
            pass  # the other side is free to go
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and answer it. True if another may follow on this connection."""
        connection = h11.Connection(h11.SERVER)
        received = await _read(connection, reader)
        if received is None:
            return False
        self.requests.append(received)
        step = self._steps.pop(0) if self._steps else self._then
        match step:
            case Status(status, headers, body):
                sent = {"Content-Length": str(len(body)), "Connection": "close", **headers}
                writer.write(_head(status, sent) + (b"" if status == 204 else body))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
            case Hang():
                await asyncio.Event().wait()
            case Cut():
                writer.transport.abort()
            case Drip(pause):
                writer.write(b"HTTP/1.1 202 Accepted\r\n")
                while True:
                    writer.write(b"X-Slow: a\r\n")
                    await writer.drain()
                    await asyncio.sleep(pause)
            case HugeBody(status):
                writer.write(_head(status, {"Content-Length": str(1 << 40)}))
                while True:
                    writer.write(b"x" * 65536)
                    await writer.drain()
            case Garbage():
                writer.write(b"\x00\xff not HTTP at all\r\n\r\n")
                await writer.drain()
        return False


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> Received | None:
    request: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            headers = {name.decode().lower(): value.decode("latin-1") for name, value in request.headers}
            return Received(request.method.decode(), request.target.decode(), headers, bytes(body))
        else:
            return None


@pytest.fixture
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as server:
        yield server


@contextlib.asynccontextmanager
async def refused_url() -> AsyncIterator[str]:
    """A loopback URL where nobody listens."""
    async with ScriptedServer() as server:
        url = server.url
    yield url
