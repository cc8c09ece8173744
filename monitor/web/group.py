"""The page behind a group's signed link: every incident it tells of, and one button for all. No user text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.group import Group
from alerts.incident import Incident, State
from alerts.policy import Policy
from alerts.ports import Clock
from alerts.signing import link
from monitor.changes import Paging
from monitor.group_keeper import GroupKeeper
from monitor.store.work import Store
from monitor.web.signed import SignedPages

ACTIONS = ("show", "ack")
A_PAGE = 50
_MOST_PAGES = 100_000
_ROOT = "../.."  # from /groups/KEY/ACTION: the public address may have a path of its own, which a proxy takes away


def routes(
    keys: Sequence[bytes], store: Store, keeper: GroupKeeper, paging: Paging, clock: Clock
) -> list[Route]:
    pages = SignedPages("group.html", ACTIONS, keys, clock)

    async def form(request: Request, key: str, action: str) -> Response:
        group = await store.group(key)
        if group is None:
            return pages.page(404, title="No such group")
        return await _list(request, group, action)

    async def deed(request: Request, key: str, action: str) -> Response:
        if action != "ack":
            return pages.page(405, title="Nothing to do here")
        before = await store.group(key)
        group = await keeper.acknowledge(key, "link")
        if group is None or before is None:
            return pages.page(404, title="No such group")
        return await _list(request, group, action, done=True, already=not before.ringing)

    async def _list(request: Request, group: Group, action: str, **said: bool) -> Response:
        number = _number(request.query_params.get("page", ""))
        found = await store.members(group.key, skip=(number - 1) * A_PAGE, limit=A_PAGE + 1)
        signed = {name: request.query_params.get(name, "") for name in ("expires", "signature")}
        return pages.page(
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
            "link": link(keys[0], _ROOT, incident.key, may, until),
        }

    return pages.routes("groups", form, deed)


def owner(incident: Incident, policy: Policy) -> str:
    """Who took it, or who is being called for it."""
    if incident.acknowledged_by:
        return incident.acknowledged_by
    if not policy.steps:
        return ""
    return ", ".join(policy.steps[incident.step % len(policy.steps)].targets)


def _number(given: str) -> int:
    """Pages count from 1; anything else is the first."""
    good = given.isascii() and given.isdigit() and len(given) <= len(str(_MOST_PAGES))
    return max(1, int(given)) if good else 1
