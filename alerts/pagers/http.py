"""One request to a receiver, and what its answer means. Nothing of a URL, key or body gets out of here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
from pydantic import SecretStr

from alerts.delivery import Answer, Attempt
from alerts.ports import Clock

_LATER = frozenset({408, 409, 425, 429})
_LONGEST_RETRY_AFTER = timedelta(days=1)
_LONGEST_BODY = 1 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is None where it was not asked for."""

    status: int
    retry_after: str | None = None
    body: bytes | None = None


class Messenger:
    """Makes requests within a time limit, over a client of its own or one given to it.

    Redirects are not followed: a page goes where the configuration says, or nowhere. Bodies are not read
    unless asked for, so that a slow or huge one cannot hold anything up.
    """

    def __init__(self, clock: Clock, time_limit: timedelta, client: httpx2.AsyncClient | None = None) -> None:
        self._clock = clock
        self._limit = time_limit.total_seconds()
        self._own = client is None
        self._client = client or httpx2.AsyncClient(headers={"User-Agent": "jiezhu"})
        # The client logs whole URLs, and below it headers are logged too; both hold secrets.
        for name in ("httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)

    async def post(
        self, url: SecretStr, body: bytes, headers: Mapping[str, str], accepted: frozenset[int]
    ) -> Attempt:
        answer = await self.ask("POST", url, body, headers)
        if isinstance(answer, Attempt):
            return answer
        return judged(answer, accepted, self._clock.now())

    async def ask(
        self,
        method: str,
        url: SecretStr,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        read: bool = False,
    ) -> Reply | Attempt:
        """Return the receiver's reply, or the failed attempt if there was none."""
        left = False

        async def watch(event: str, _: dict[str, Any]) -> None:
            nonlocal left
            left = left or event.endswith("send_request_headers.started")

        try:
            async with (
                asyncio.timeout(self._limit),
                self._client.stream(
                    method,
                    url.get_secret_value(),
                    content=body,
                    headers=dict(headers or {}),
                    follow_redirects=False,
                    timeout=self._limit,
                    extensions={"trace": watch},
                ) as response,
            ):
                content = await _bounded(response) if read else None
                return Reply(response.status_code, response.headers.get("retry-after"), content)
        except (TimeoutError, httpx2.TimeoutException):
            return Attempt(Answer.LOST, "timeout") if left else Attempt(Answer.UNAVAILABLE, "connect_timeout")
        except Exception:  # noqa: BLE001  whatever breaks here, the page must get its next attempt
            if left:
                return Attempt(Answer.LOST, "connection_lost")
            return Attempt(Answer.UNAVAILABLE, "no_connection")

    async def close(self) -> None:
        if self._own:
            await self._client.aclose()


def judged(reply: Reply, accepted: frozenset[int], now: datetime) -> Attempt:
    """Say what a status means. Success is only what the service calls so, not any page that says 200."""
    reason = f"http_{reply.status}"
    later = retry_after(reply.retry_after, now)
    if reply.status in accepted:
        return Attempt(Answer.ACCEPTED, reason)
    if reply.status in _LATER:
        return Attempt(Answer.THROTTLED, reason, later)
    if 300 <= reply.status < 500:
        return Attempt(Answer.REJECTED, reason)
    return Attempt(Answer.UNAVAILABLE, reason, later)


def retry_after(value: str | None, now: datetime) -> timedelta | None:
    """Read ``Retry-After`` (RFC 9110, 10.2.3): seconds or an HTTP date. None for anything else."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(timedelta(seconds=int(value[:9])), _LONGEST_RETRY_AFTER)
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return min(max(wait, timedelta(0)), _LONGEST_RETRY_AFTER)


async def _bounded(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > _LONGEST_BODY:
            raise ValueError("the answer is too long")
    return bytes(content)
