"""The page behind a signed link: what the incident is, and one button. No user text."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alerts.ports import Clock
from monitor.people import Answer, People
from monitor.store.work import Store
from monitor.web.signed import SignedPages

ACTIONS = ("show", "ack", "resolve")


def routes(keys: Sequence[bytes], store: Store, people: People, clock: Clock) -> list[Route]:
    pages = SignedPages("incident.html", ACTIONS, keys, clock)

    async def form(_: Request, incident: str, action: str) -> Response:
        found = await store.incident(incident)
        if found is None:
            return pages.page(404, title="No such incident")
        return pages.page(200, incident=found, action=action)

    async def deed(_: Request, incident: str, action: str) -> Response:
        if action == "show":
            return pages.page(405, title="Nothing to do here")
        done = (
            await people.acknowledge(incident, "link")
            if action == "ack"
            else await people.resolve(incident, "link", None)
        )
        if done.answer is Answer.UNKNOWN:
            return pages.page(404, title="No such incident")
        already = done.answer is Answer.ALREADY
        return pages.page(200, incident=done.incident, action=action, done=True, already=already)

    return pages.routes("incidents", form, deed)
