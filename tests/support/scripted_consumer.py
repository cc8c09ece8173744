"""An aiokafka consumer as an intake uses it: what it owns and what it was told are plain to see."""

from __future__ import annotations

from collections.abc import Sequence

from aiokafka import TopicPartition
from aiokafka.errors import KafkaConnectionError


class ScriptedConsumer:
    def __init__(self, *owned: TopicPartition) -> None:
        self.owned = set(owned)
        self.paused: set[TopicPartition] = set()
        self.places: dict[TopicPartition, int] = {}
        self.begins: dict[TopicPartition, int] = {}
        self.noted: dict[TopicPartition, int] = {}  # what was committed
        self.away = False

    def assignment(self) -> set[TopicPartition]:
        return set(self.owned)

    def pause(self, *partitions: TopicPartition) -> None:
        self.paused.update(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        self.paused.difference_update(partitions)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.places[partition] = offset

    async def position(self, partition: TopicPartition) -> int:
        return self.places[partition]

    async def beginning_offsets(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        if self.away:
            raise KafkaConnectionError
        return {place: self.begins.get(place, 0) for place in partitions}

    def highwater(self, partition: TopicPartition) -> int | None:
        return self.places.get(partition)

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        return None

    async def committed(self, partition: TopicPartition) -> int | None:
        if self.away:
            raise KafkaConnectionError
        return self.noted.get(partition)

    async def commit(self, offsets: dict[TopicPartition, int]) -> None:
        del offsets
