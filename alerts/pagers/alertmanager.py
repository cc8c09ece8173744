"""Alertmanager, API v2.

An alert there lives until its ``endsAt``; without one it is taken for resolved after ``resolve_timeout``
(5 min), which would end a page that nobody has looked at. So ``endsAt`` is set ``hold`` ahead (a day), each
escalation puts it off again, and a resolution ends it now. A test page ends by itself after five minutes.

Alerts are not kept over a restart of Alertmanager. A page lost that way comes back with the next escalation,
which sends the same alert again until somebody acknowledges; so keep escalation on.

Its members share what was notified, not alerts: name each member of a cluster as a channel of its own.
Route by ``severity`` (``critical`` rings, ``warning`` is a ticket), with ``group_by: [incident]`` and
``group_wait: 0s`` for ``critical``, or a page waits half a minute; alerts labelled ``test="true"`` can be
routed elsewhere. There is no acknowledging in Alertmanager: it shows as an annotation, which notifies nobody.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
import orjson
from pydantic import Field, SecretStr

from alerts.delivery import Answer, Attempt
from alerts.page import Kind, Page
from alerts.pagers.http import Messenger, judged
from alerts.pagers.settings import Name, PagerSettings, Secret, SecretUrl
from alerts.plain import fit_key
from alerts.ports import Clock
from alerts.wording import tidy, word

_ACCEPTED = frozenset({200})
_TEST_HOLD = timedelta(minutes=5)


class AlertmanagerSettings(PagerSettings):
    """``url`` is the base URL, with the path prefix if there is one. ``token`` goes as a bearer token."""

    name: Name = "alertmanager"
    url: SecretUrl
    token: Secret | None = None
    alertname: str = "JiezhuCrisis"
    hold: timedelta = Field(default=timedelta(hours=24), ge=timedelta(minutes=10))


class Alertmanager:
    """Acknowledging and resolving reach every alert of the incident, under whatever labels it was raised.

    The labels of a risen level or another severity are another alert, so those that fire are asked for first.
    """

    def __init__(
        self, settings: AlertmanagerSettings, clock: Clock, client: httpx2.AsyncClient | None = None
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._clock = clock
        self._messenger = Messenger(clock, settings.time_limit, client)
        self._base = settings.url.get_secret_value().rstrip("/") + "/api/v2/alerts"
        self._headers = {"Content-Type": "application/json"}
        if settings.token is not None:
            self._headers["Authorization"] = f"Bearer {settings.token.get_secret_value()}"

    async def send(self, page: Page) -> Attempt:
        page = tidy(page)
        now = self._clock.now()
        if page.kind in (Kind.PAGE, Kind.TICKET):
            return await self._post([alert(page, self._settings, now)])
        firing = await self._firing(page)
        if isinstance(firing, Attempt):
            return firing
        if not firing:
            return Attempt(Answer.ACCEPTED, "nothing_firing")
        return await self._post([updated(page, known, self._settings, now) for known in firing])

    async def close(self) -> None:
        await self._messenger.close()

    async def _post(self, alerts: list[dict[str, Any]]) -> Attempt:
        return await self._messenger.post(
            SecretStr(self._base), orjson.dumps(alerts), self._headers, _ACCEPTED
        )

    async def _firing(self, page: Page) -> list[dict[str, Any]] | Attempt:
        query = urlencode(
            {"filter": f'incident="{_quoted(fit_key(page.incident))}"', "active": "true", "silenced": "true"}
        )
        reply = await self._messenger.ask(
            "GET", SecretStr(f"{self._base}?{query}"), headers=self._headers, read=True
        )
        if isinstance(reply, Attempt):
            return reply
        if reply.status not in _ACCEPTED:
            return judged(reply, _ACCEPTED, self._clock.now())
        try:
            found = orjson.loads(reply.body or b"")
            return [{"labels": one["labels"], "startsAt": one["startsAt"]} for one in found]
        except (ValueError, TypeError, KeyError):
            return Attempt(Answer.UNAVAILABLE, "answer_unreadable")


def alert(page: Page, settings: AlertmanagerSettings, now: datetime) -> dict[str, Any]:
    """The alert of a page or ticket. Its labels are its identity: the same page makes the same labels."""
    wording = word(page, settings.lang)
    labels = {
        "alertname": settings.alertname,
        "severity": "critical" if page.kind is Kind.PAGE else "warning",
        "incident": fit_key(page.incident),
        "dedup_key": fit_key(page.dedup_key),
        "level": page.level,
        "release": page.release,
        "track": page.track,
    }
    if page.group:
        # Level and size change while it rings; labels are what the same alert is known by.
        del labels["level"]
        labels["grouped"] = "true"
    if page.test:
        labels["test"] = "true"
    annotations = {detail.key: detail.value for detail in wording.details}
    annotations["summary"] = wording.title
    if page.ack_link:
        annotations["acknowledge"] = page.ack_link
    if page.runbook:
        annotations["runbook_url"] = page.runbook
    said: dict[str, Any] = {
        "labels": labels,
        "annotations": annotations,
        "startsAt": min(page.since, now).isoformat(),
        "endsAt": (now + (_TEST_HOLD if page.test else settings.hold)).isoformat(),
    }
    if page.link:
        said["generatorURL"] = page.link
    return said


def updated(
    page: Page, known: dict[str, Any], settings: AlertmanagerSettings, now: datetime
) -> dict[str, Any]:
    """The same alert, ended now, or marked as acknowledged and held on."""
    resolved = page.kind is Kind.RESOLVE
    wording = word(page, settings.lang)
    return {
        "labels": known["labels"],
        "annotations": {
            **{detail.key: detail.value for detail in wording.details},
            "summary": wording.title,
            **({} if resolved else {"acknowledged": "true"}),
        },
        "startsAt": known["startsAt"],
        "endsAt": (now if resolved else now + settings.hold).isoformat(),
    }


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
