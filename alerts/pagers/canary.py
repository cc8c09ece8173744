"""The canary's channel: a pager that is kept for it, or, without one, the relay's word that it came so far."""

from __future__ import annotations

from alerts.canary import CHANNEL
from alerts.delivery import Answer, Attempt
from alerts.page import Page
from alerts.ports import Pager


class CanaryChannel:
    def __init__(self, pager: Pager | None = None) -> None:
        self.name = CHANNEL
        self._pager = pager

    async def send(self, page: Page) -> Attempt:
        """A page that is no canary's is refused: nobody would see it here."""
        if not page.canary:
            return Attempt(Answer.REJECTED, "not_a_canary")
        if self._pager is None:
            return Attempt(Answer.ACCEPTED, "taken_at_the_relay")
        return await self._pager.send(page)

    async def close(self) -> None:
        if self._pager is not None:
            await self._pager.close()
