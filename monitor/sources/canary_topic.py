"""Canaries go in by the source's own client, as a producer's records do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from monitor.canary import CanaryUnsent
from monitor.sources.client import Client


class CanaryTopic:
    def __init__(self, client: Callable[[], Client], topic: str, limit_seconds: float = 5.0) -> None:
        self._client = client
        self._topic = topic
        self._limit = limit_seconds

    def partitions(self) -> Collection[int]:
        consumer = self._client().consumer()
        return () if consumer is None else consumer.partitions_for_topic(self._topic) or ()

    async def send(self, partition: int, key: bytes, value: bytes, headers: dict[str, str]) -> None:
        try:
            async with asyncio.timeout(self._limit):
                await self._client().broker.publish(
                    value, topic=self._topic, key=key, partition=partition, headers=headers
                )
        except Exception as failure:  # noqa: BLE001 - the client also asserts, as about partitions that are new
            raise CanaryUnsent(
                f"the topic did not take a canary ({type(failure).__name__}); check that we may write to it"
            ) from None
