"""Whatever the client stumbles over when a canary is sent, the canary is unsent, and no more than that."""

from __future__ import annotations

import pytest

from monitor.canary import CanaryUnsent
from monitor.sources.canary_topic import CanaryTopic


class Client:
    """Its producer has not heard yet that the topic has more partitions."""

    @property
    def broker(self) -> Client:
        return self

    async def publish(self, *_: object, **__: object) -> None:
        raise AssertionError("Unrecognized partition")


async def test_a_partition_that_the_producer_does_not_know_yet():
    with pytest.raises(CanaryUnsent, match="AssertionError"):
        await CanaryTopic(Client, "turns").send(9, b"k", b"v", {})
