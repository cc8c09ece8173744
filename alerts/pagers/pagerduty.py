"""PagerDuty, Events API v2: trigger, acknowledge and resolve by one dedup key."""

from __future__ import annotations

from typing import Any

import httpx2
import orjson
from pydantic import SecretStr

from alerts.delivery import Attempt
from alerts.page import Kind, Page
from alerts.pagers.http import Messenger
from alerts.pagers.settings import Name, PagerSettings, Secret, SecretUrl
from alerts.plain import clip, fit_key
from alerts.ports import Clock
from alerts.wording import TITLE_LIMIT, Wording, tidy, word

_EVENT_LIMIT = 512 * 1000
_ACTIONS = {
    Kind.PAGE: "trigger",
    Kind.TICKET: "trigger",
    Kind.ACKNOWLEDGE: "acknowledge",
    Kind.RESOLVE: "resolve",
}
_ACCEPTED = frozenset({202})


class PagerDutySettings(PagerSettings):
    """``routing_key`` is a service's integration key. ``url`` is for the EU service region or a proxy."""

    name: Name = "pagerduty"
    routing_key: Secret
    url: SecretUrl = SecretStr("https://events.pagerduty.com")
    source: str = "jiezhu"


class PagerDuty:
    """202 is the only yes; a 400 is never asked again, 429 and 5xx are, later."""

    def __init__(
        self, settings: PagerDutySettings, clock: Clock, client: httpx2.AsyncClient | None = None
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._messenger = Messenger(clock, settings.time_limit, client)
        self._url = SecretStr(settings.url.get_secret_value().rstrip("/") + "/v2/enqueue")

    async def send(self, page: Page) -> Attempt:
        body = event(page, self._settings)
        return await self._messenger.post(self._url, body, {"Content-Type": "application/json"}, _ACCEPTED)

    async def close(self) -> None:
        await self._messenger.close()


def event(page: Page, settings: PagerDutySettings) -> bytes:
    """The event as sent: at most 512 kB, whatever the page holds."""
    page = tidy(page)
    said: dict[str, Any] = {
        "routing_key": settings.routing_key.get_secret_value(),
        "event_action": _ACTIONS[page.kind],
        "dedup_key": fit_key(page.dedup_key),
    }
    if page.kind in (Kind.PAGE, Kind.TICKET):
        wording = word(page, settings.lang)
        said["client"] = "jiezhu"
        if page.link:
            said["client_url"] = page.link
        said["links"] = [{"href": url, "text": text} for text, url in wording.links]
        said["payload"] = _payload(page, wording, settings)
        if len(orjson.dumps(said)) > _EVENT_LIMIT:
            del said["payload"]["custom_details"]  # the summary alone is far below the limit
    return orjson.dumps(said)


def _payload(page: Page, wording: Wording, settings: PagerDutySettings) -> dict[str, Any]:
    return {
        "summary": clip(wording.title, TITLE_LIMIT),
        "source": settings.source,
        "severity": "critical" if page.kind is Kind.PAGE else "warning",
        "timestamp": page.since.isoformat(),
        "component": page.release,
        "group": page.track,
        "class": page.outcome,
        "custom_details": {detail.label: detail.value for detail in wording.details},
    }
