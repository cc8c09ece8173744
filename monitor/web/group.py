"""The page behind a group's signed link: every incident it tells of, and one button for all. No user text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from alerts.group import Group
from alerts.incident import Incident, State
from alerts.policy import Policy
from alerts.ports import Clock
from alerts.signing import LinkError, link, verify
from monitor.changes import Paging
from monitor.errors import StoreError
from monitor.group_keeper import GroupKeeper
from monitor.store.work import Store
from monitor.web.incident import HEADERS, TEMPLATES

ACTIONS = ("show", "ack")
A_PAGE = 50
_MOST_PAGES = 100_000

Then = Callable[[Request, str, str], Awaitable[Response]]


def routes(
    keys: Sequence[bytes], store: Store, keeper: GroupKeeper, paging: Paging, clock: Clock
) -> list[Route]:
    async def form(request: Request, key: str, action: str) -> Response:
        group = await store.group(key)
        if group is None:
            return _page(404, title="No such group")
        return await _list(request, group, action)

    async def deed(request: Request, key: str, action: str) -> Response:
        if action != "ack":
            return _page(405, title="Nothing to do here")
        before = await store.group(key)
        group = await keeper.acknowledge(key, "link")
        if group is None or before is None:
            return _page(404, title="No such group")
        return await _list(request, group, action, done=True, already=not before.ringing)

    async def _list(request: Request, group: Group, action: str, **said: bool) -> Response:
        number = _number(request.query_params.get("page", ""))
        found = await store.members(group.key, skip=(number - 1) * A_PAGE, limit=A_PAGE + 1)
        signed = {name: request.query_params.get(name, "") for name in ("expires", "signature")}
        return _page(
            200,
            group=group,
            action=action,
            rows=[_row(one, paging.policy, action, signed["expires"]) for one in found[:A_PAGE]],
            number=number,
            last=len(found) <= A_PAGE,
            signed=signed,
            **said,
        )

    def _row(incident: Incident, policy: Policy, action: str, expires: str) -> dict[str, Any]:
        until = datetime.fromtimestamp(int(expires), UTC)
        may = "show" if action == "show" or incident.state is not State.PAGING else "ack"
        return {
            "incident": incident,
            "owner": owner(incident, policy),
            "link": link(keys[0], "", incident.key, may, until),
        }

    async def show(request: Request) -> Response:
        return await _guarded(request, keys, clock, form)

    async def act(request: Request) -> Response:
        return await _guarded(request, keys, clock, deed)

    path = "/groups/{group}/{action}"
    return [Route(path, show, methods=["GET"]), Route(path, act, methods=["POST"])]


def owner(incident: Incident, policy: Policy) -> str:
    """Who took it, or who is being called for it."""
    if incident.acknowledged_by:
        return incident.acknowledged_by
    if not policy.steps:
        return ""
    return ", ".join(policy.steps[incident.step % len(policy.steps)].targets)


async def _guarded(request: Request, keys: Sequence[bytes], clock: Clock, then: Then) -> Response:
    key, action = request.path_params["group"], request.path_params["action"]
    if action not in ACTIONS:
        return _page(404, title="No such page")
    expires = request.query_params.get("expires", "")
    signature = request.query_params.get("signature", "")
    try:
        verify(keys, key, action, expires, signature, clock.now())
    except LinkError as error:
        return _page(403, title="This link does not open anything", note=str(error))
    try:
        return await then(request, key, action)
    except StoreError:
        return _page(503, title="The database does not answer", note="Try again in a minute.")


def _number(given: str) -> int:
    """Pages count from 1; anything else is the first."""
    good = given.isascii() and given.isdigit() and len(given) <= len(str(_MOST_PAGES))
    return max(1, int(given)) if good else 1


def _page(status: int, **values: Any) -> HTMLResponse:
    return HTMLResponse(TEMPLATES.get_template("group.html").render(**values), status, HEADERS)
