"""A signed JSON POST to a service of the user's own. Headers and checking: ``alerts.pagers.signature``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import httpx2
import orjson
from pydantic import Field

from alerts.delivery import Attempt
from alerts.page import Page
from alerts.pagers.http import Messenger
from alerts.pagers.settings import Name, PagerSettings, Secret, SecretUrl
from alerts.pagers.signature import IDEMPOTENCY, SIGNATURE, TIMESTAMP, signature
from alerts.plain import fit_key
from alerts.ports import Clock
from alerts.wording import tidy, word


class WebhookSettings(PagerSettings):
    """``accepted`` lists the statuses by which the receiver says that it has the page."""

    name: Name = "webhook"
    url: SecretUrl
    secret: Secret
    accepted: frozenset[Annotated[int, Field(ge=200, le=299)]] = frozenset({200, 201, 202, 204})


class Webhook:
    """A 4xx other than 408, 409, 425 and 429 is final for this channel."""

    def __init__(
        self, settings: WebhookSettings, clock: Clock, client: httpx2.AsyncClient | None = None
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._clock = clock
        self._messenger = Messenger(clock, settings.time_limit, client)

    async def send(self, page: Page) -> Attempt:
        body = message(page, self._settings)
        timestamp = int(self._clock.now().timestamp())
        headers = {
            "Content-Type": "application/json",
            TIMESTAMP: str(timestamp),
            SIGNATURE: signature(self._settings.secret.get_secret_value().encode(), timestamp, body),
            IDEMPOTENCY: idempotency_key(page),
        }
        return await self._messenger.post(self._settings.url, body, headers, self._settings.accepted)

    async def close(self) -> None:
        await self._messenger.close()


def idempotency_key(page: Page) -> str:
    """The dedup key with kind and step: with the bare key, a receiver would drop the acknowledgement."""
    return fit_key(f"{page.dedup_key}:{page.kind.value}:{page.step}")


def message(page: Page, settings: WebhookSettings) -> bytes:
    """The body, version 1: fields of the page by their names, and the page in words."""
    page = tidy(page)
    wording = word(page, settings.lang)
    said: dict[str, Any] = {
        "version": 1,
        "kind": page.kind.value,
        "dedup_key": fit_key(page.dedup_key),
        "incident": fit_key(page.incident),
        "title": wording.title,
        "details": {detail.key: detail.value for detail in wording.details},
        "level": page.level,
        "outcome": page.outcome,
        "reason": page.reason,
        "score": page.score,
        "since": _time(page.since),
        "deadline": _time(page.deadline),
        "release": page.release,
        "track": page.track,
        "lang": page.lang,
        "region": page.region,
        "missing": list(page.missing),
        "alike": page.alike,
        "step": page.step,
        "escalates_at": _time(page.escalates_at),
        "link": page.link,
        "ack_link": page.ack_link,
        "runbook": page.runbook,
        "test": page.test,
        "trouble": str(page.trouble) if page.trouble else None,
        "degraded": page.degraded or page.by_phrases,
        "degraded_by": [
            *(["database_away"] if page.degraded else []),
            *(["encoder_failing"] if page.by_phrases else []),
        ],
        "group": page.group,
        "probe": page.probe,
    }
    return orjson.dumps(said)


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
