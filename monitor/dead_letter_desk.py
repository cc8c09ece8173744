"""Puts dead letters on their topic, beside the line: the table has them already, so nothing waits for a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog

from monitor.crypto.keyring import Keyring
from monitor.sources.dead_letters import DeadLetterTopic, DeadLetterUndelivered
from monitor.store.work import DeadLetter

_log = structlog.get_logger(__name__)

WAITING = 10_000  # letters; more than the line takes before it stops
IDLE_SECONDS = 5.0


class DeadLetterDesk:
    def __init__(
        self, topic: DeadLetterTopic, keyring: Keyring, looked: Callable[[], None] = lambda: None
    ) -> None:
        """``looked`` is called now and then while it works, letters or not."""
        self._topic = topic
        self._looked = looked
        self._keyring = keyring
        self._letters: asyncio.Queue[DeadLetter] = asyncio.Queue(WAITING)

    def take(self, letters: Sequence[DeadLetter]) -> None:
        """Queue letters that are in the table; what does not fit stays there only."""
        for letter in letters:
            try:
                self._letters.put_nowait(letter)
            except asyncio.QueueFull:
                _log.warning("dead_letter_topic_behind")
                return

    async def run(self) -> None:
        while True:
            self._looked()
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    letter = await self._letters.get()
            except TimeoutError:
                continue
            place = f"dead-letter:{letter.partition[0]}:{letter.partition[1]}:{letter.offset}"
            try:
                await self._topic.publish(
                    reason=letter.reason,
                    partition=letter.partition,
                    offset=letter.offset,
                    sealed=self._keyring.seal(letter.payload, place),
                )
            except DeadLetterUndelivered as error:
                _log.warning("dead_letter_not_on_topic", error=str(error))
