"""The HTTP side of the daemon: /metrics, /livez, /readyz, the schemas, and signed incident links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from monitor.decode.event import published_schema
from monitor.health import Health

_INDEX = """jiezhu
/metrics           Prometheus
/livez /readyz     health, judged by progress
/asyncapi.json     what is read from Kafka (AsyncAPI)
/schema/v1.json    one event (JSON Schema)
"""


def build(
    registry: CollectorRegistry,
    live: Callable[[], Health],
    ready: Callable[[], Health],
    asyncapi: Callable[[], str],
    incidents: Sequence[BaseRoute],
) -> Starlette:
    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    async def index(_: Request) -> Response:
        return PlainTextResponse(_INDEX)

    async def livez(_: Request) -> Response:
        return _answer(live())

    async def readyz(_: Request) -> Response:
        return _answer(ready())

    async def channels(_: Request) -> Response:
        return Response(asyncapi(), media_type="application/json")

    async def schema(_: Request) -> Response:
        return JSONResponse(published_schema())

    return Starlette(
        routes=[
            Route("/", index),
            Route("/metrics", metrics),
            Route("/livez", livez),
            Route("/readyz", readyz),
            Route("/asyncapi.json", channels),
            Route("/schema/v1.json", schema),
            *incidents,
        ]
    )


def _answer(health: Health) -> JSONResponse:
    return JSONResponse(health.as_dict(), 200 if health.good else 503)
