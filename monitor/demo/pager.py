"""A pager on loopback that receives real HTTP: checks the signature, keeps what came, acknowledges on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.pagers.signature import SIGNATURE, TIMESTAMP, SignatureError, check
from alerts.ports import Clock
from monitor.web.server import WebServer


@dataclass(frozen=True, slots=True)
class Received:
    """One request that was accepted. ``first`` is False for a repeat under a known key."""

    at: datetime
    content: dict[str, Any]
    first: bool


class FakePager:
    def __init__(self, secret: bytes, clock: Clock, heard: Callable[[Received], Awaitable[None]]) -> None:
        self._secret = secret
        self._clock = clock
        self._heard = heard
        self._keys: set[tuple[str, str]] = set()
        self._server = WebServer("127.0.0.1", 0)
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/pages"

    def start(self) -> None:
        app = Starlette(routes=[Route("/pages", self._take, methods=["POST"])])
        self._task = asyncio.create_task(self._server.run(app))

    async def stop(self) -> None:
        self._server.stop()
        if self._task is not None:
            await self._task

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        now = self._clock.now()
        try:
            check(
                self._secret,
                request.headers.get(TIMESTAMP, ""),
                request.headers.get(SIGNATURE, ""),
                body,
                now,
            )
        except SignatureError:
            return Response(status_code=401)
        content = orjson.loads(body)
        key = (content["kind"], content["dedup_key"])
        received = Received(now, content, key not in self._keys)
        self._keys.add(key)
        await self._heard(received)
        return Response(status_code=202)
