"""What pages behind signed links share: the guard at the door, and how they are sent. GET shows, POST does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from alerts.ports import Clock
from alerts.signing import LinkError, verify
from monitor.errors import RowDamaged, StoreError

_TEMPLATES = Environment(loader=PackageLoader("monitor.web"), autoescape=select_autoescape())
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
}

Then = Callable[[Request, str, str], Awaitable[Response]]
"""Answer a request whose link is good: ``(request, key, action)``."""


class SignedPages:
    """Pages of one kind, of ``template``; ``keys`` sign their links, newest first."""

    def __init__(self, template: str, actions: Collection[str], keys: Sequence[bytes], clock: Clock) -> None:
        self._template = _TEMPLATES.get_template(template)
        self._actions = actions
        self._keys = keys
        self._clock = clock

    def routes(self, place: str, form: Then, deed: Then) -> list[Route]:
        """``form`` answers GET, since chat and mail programs open links to preview them; ``deed`` answers POST."""

        async def show(request: Request) -> Response:
            return await self._guarded(request, form)

        async def act(request: Request) -> Response:
            return await self._guarded(request, deed)

        path = f"/{place}/{{key}}/{{action}}"
        return [Route(path, show, methods=["GET"]), Route(path, act, methods=["POST"])]

    def page(self, status: int, **values: Any) -> HTMLResponse:
        return HTMLResponse(self._template.render(**values), status, _HEADERS)

    async def _guarded(self, request: Request, then: Then) -> Response:
        key, action = request.path_params["key"], request.path_params["action"]
        if action not in self._actions:
            return self.page(404, title="No such page")
        expires = request.query_params.get("expires", "")
        signature = request.query_params.get("signature", "")
        try:
            verify(self._keys, key, action, expires, signature, self._clock.now())
        except LinkError as error:
            return self.page(403, title="This link does not open anything", note=str(error))
        try:
            return await then(request, key, action)
        except RowDamaged:
            note = "Take its incidents one by one: `jiezhu incidents list` shows them."
            return self.page(503, title="The record cannot be read", note=note)
        except StoreError:
            return self.page(503, title="The database does not answer", note="Try again in a minute.")
