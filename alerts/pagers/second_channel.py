"""A second channel (SMS, chat, mail, telephone bridges) by apprise, an optional extra."""

from __future__ import annotations

import asyncio
import importlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import Field, SecretStr

from alerts.delivery import Answer, Attempt
from alerts.page import Page
from alerts.pagers.settings import Name, PagerSettings
from alerts.wording import word

_THREADS = 4


class ExtraMissingError(Exception):
    """An optional package is not installed."""


class SecondChannelSettings(PagerSettings):
    """``urls`` are apprise's service URLs; each holds its credentials."""

    name: Name = "second_channel"
    urls: tuple[SecretStr, ...] = Field(min_length=1)


class SecondChannel:
    """Accepted as soon as one of the services took it: then a person was reached.

    apprise blocks, so it runs in threads of its own. One that hangs keeps its thread until apprise's own
    socket limits (4 s to connect, 4 s to read) end it; when all threads hang, the channel is unavailable.
    """

    def __init__(self, settings: SecondChannelSettings) -> None:
        """Raise ``ExtraMissingError`` without the extra, ``ValueError`` for a URL that apprise does not know."""
        apprise = load_extra()
        # Both log URLs, and a service's URL is its key.
        for name in ("apprise", "urllib3"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self.name = settings.name
        self._settings = settings
        self._limit = settings.time_limit.total_seconds()
        self._statuses = apprise.AppriseResultStatus
        self._services = apprise.Apprise()
        for position, url in enumerate(settings.urls, 1):
            if not self._services.add(url.get_secret_value()):
                raise ValueError(
                    f"apprise does not know URL no. {position} of pager {settings.name}: check its scheme and parts"
                )
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="second-channel")
        self._busy = 0

    async def send(self, page: Page) -> Attempt:
        if self._busy >= _THREADS:
            return Attempt(Answer.UNAVAILABLE, "busy")
        wording = word(page, self._settings.lang)
        self._busy += 1
        try:
            job = asyncio.get_running_loop().run_in_executor(
                self._threads, self._notify, wording.title, wording.text
            )
        except RuntimeError:  # closed
            self._busy -= 1
            return Attempt(Answer.UNAVAILABLE, "closed")
        job.add_done_callback(self._freed)
        done, _ = await asyncio.wait({job}, timeout=self._limit)
        return job.result() if done else Attempt(Answer.LOST, "timeout")

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _notify(self, title: str, body: str) -> Attempt:
        try:
            result = self._services.notify(title=title, body=body, timeout=self._limit)
        except Exception:  # noqa: BLE001  whatever a service's plugin raises may quote its URL
            return Attempt(Answer.LOST, "apprise_error")
        statuses = self._statuses
        if result.status == statuses.SUCCESS:
            return Attempt(Answer.ACCEPTED, "apprise_sent")
        if result.status == statuses.PARTIAL:
            return Attempt(Answer.ACCEPTED, "apprise_sent_in_part")
        if result.status == statuses.TIMEOUT:
            return Attempt(Answer.LOST, "timeout")
        return Attempt(Answer.UNAVAILABLE, "apprise_failed")

    def _freed(self, _: asyncio.Future[Any]) -> None:
        self._busy -= 1


def load_extra(module: str = "apprise") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ExtraMissingError("a second channel needs apprise: pip install 'jiezhu[apprise]'") from None
