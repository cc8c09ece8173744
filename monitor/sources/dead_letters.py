"""The dead-letter topic. What goes there is sealed already; nothing here reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError
from faststream.exceptions import IncorrectState
from faststream.kafka import KafkaBroker

from monitor.errors import JiezhuError
from monitor.store.work import Partition


class DeadLetterUndelivered(JiezhuError):  # noqa: N818 - a state: the table has it, the topic not yet
    pass


class DeadLetterTopic:
    """A record has no key, and the headers ``reason``, ``source-topic``, ``source-partition``, ``source-offset``
    and ``payload``: ``sealed``, or ``too_large`` with an empty value where the broker takes no such size.
    """  # noqa: D205 - one sentence

    def __init__(self, broker: Callable[[], KafkaBroker], topic: str, limit_seconds: float = 10.0) -> None:
        self._broker = broker
        self._topic = topic
        self._limit = limit_seconds

    async def publish(self, *, reason: str, partition: Partition, offset: int, sealed: bytes) -> None:
        """Returns when the broker has it. Raises DeadLetterUndelivered; to publish again is harmless."""
        headers = {
            "reason": reason,
            "source-topic": partition[0],
            "source-partition": str(partition[1]),
            "source-offset": str(offset),
        }
        try:
            async with asyncio.timeout(self._limit):
                try:
                    await self._send(sealed, {**headers, "payload": "sealed"})
                except (MessageSizeTooLargeError, RecordTooLargeError):
                    await self._send(b"", {**headers, "payload": "too_large"})
        except (KafkaError, IncorrectState, TimeoutError) as failure:
            raise DeadLetterUndelivered(
                f"the dead-letter topic did not take a record ({type(failure).__name__}); check that it exists"
            ) from None

    async def _send(self, value: bytes, headers: dict[str, str]) -> None:
        await self._broker().publish(value, topic=self._topic, headers=headers)
