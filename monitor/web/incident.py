"""The page behind a signed link: what the incident is, and one button. No user text.

GET only shows a form, since chat and mail programs open links to preview them; the deed is done by POST.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from jinja2 import Environment, PackageLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from alerts.incident import Incident
from alerts.ports import Clock
from alerts.signing import LinkError, verify
from monitor.errors import StoreError
from monitor.people import Answer, People
from monitor.store.work import Store

ACTIONS = ("show", "ack", "resolve")
TEMPLATES = Environment(loader=PackageLoader("monitor.web"), autoescape=select_autoescape())
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
}


def routes(keys: Sequence[bytes], store: Store, people: People, clock: Clock) -> list[Route]:
    async def show(request: Request) -> Response:
        return await _guarded(request, keys, clock, _form)

    async def act(request: Request) -> Response:
        return await _guarded(request, keys, clock, _deed)

    async def _form(incident: str, action: str) -> Response:
        found = await store.incident(incident)
        return (
            _page(404, title="No such incident")
            if found is None
            else _page(200, incident=found, action=action)
        )

    async def _deed(incident: str, action: str) -> Response:
        if action == "show":
            return _page(405, title="Nothing to do here")
        deed = (
            await people.acknowledge(incident, "link")
            if action == "ack"
            else await people.resolve(incident, "link", None)
        )
        if deed.answer is Answer.UNKNOWN:
            return _page(404, title="No such incident")
        already = deed.answer is Answer.ALREADY
        return _page(200, incident=deed.incident, action=action, done=True, already=already)

    path = "/incidents/{incident}/{action}"
    return [Route(path, show, methods=["GET"]), Route(path, act, methods=["POST"])]


async def _guarded(
    request: Request,
    keys: Sequence[bytes],
    clock: Clock,
    then: Callable[[str, str], Awaitable[Response]],
) -> Response:
    incident, action = request.path_params["incident"], request.path_params["action"]
    if action not in ACTIONS:
        return _page(404, title="No such page")
    expires = request.query_params.get("expires", "")
    signature = request.query_params.get("signature", "")
    try:
        verify(keys, incident, action, expires, signature, clock.now())
    except LinkError as error:
        return _page(403, title="This link does not open anything", note=str(error))
    try:
        return await then(incident, action)
    except StoreError:
        return _page(503, title="The database does not answer", note="Try again in a minute.")


def _page(
    status: int,
    *,
    title: str = "",
    note: str = "",
    incident: Incident | None = None,
    action: str = "show",
    done: bool = False,
    already: bool = False,
) -> HTMLResponse:
    html = TEMPLATES.get_template("incident.html").render(
        title=title, note=note, incident=incident, action=action, done=done, already=already
    )
    return HTMLResponse(html, status, HEADERS)
