"""Markers as events, many of them, straight into a topic: what a quick worker reads. See ``scripted_scorers``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from aiokafka import AIOKafkaProducer

PARTS = 500  # records on their way at once


@dataclass(frozen=True, slots=True)
class Said:
    """``text`` is a marker, and anything after a ``|``."""

    conversation: str
    role: str
    text: str
    at: datetime
    number: int = 0
    facts: tuple[tuple[str, Any], ...] = ()

    def value(self) -> bytes:
        return orjson.dumps(
            {
                "event_id": f"{self.conversation} {self.role} {self.number}",
                "conversation_id": self.conversation,
                "role": self.role,
                "text": self.text,
                "at": self.at.isoformat(),
                **dict(self.facts),
            }
        )


def exchange(conversation: str, user: str, reply: str, at: datetime, number: int = 0) -> tuple[Said, Said]:
    """A user's turn and the assistant's reply, a second apart."""
    return (
        Said(conversation, "user", user, at, number),
        Said(conversation, "assistant", reply, at + timedelta(seconds=1), number),
    )


def crowd(name: str, events: int, crises: int, at: datetime) -> Iterator[Said]:
    """Exchanges of ``events`` turns in all, each a conversation; ``crises`` of them, evenly spread, are dropped.

    A dropped one is named ``"<name> <number> dropped"``.
    """
    conversations = events // 2
    dropped = {round((n + 0.5) * conversations / crises) for n in range(crises)} if crises else set()
    for number in range(conversations):
        if number in dropped:
            yield from exchange(f"{name} {number} dropped", "crisis", "sleep tip", at)
        else:
            yield from exchange(f"{name} {number}", "hello", "chat", at)


async def put(bootstrap_servers: str, topic: str, said: Iterable[Said]) -> int:
    """Send all, keyed by conversation; return how many. All are on the broker when it returns."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, acks="all", linger_ms=5)
    await producer.start()
    count = 0
    try:
        waiting = []
        for one in said:
            waiting.append(await producer.send(topic, one.value(), key=one.conversation.encode()))
            count += 1
            if len(waiting) >= PARTS:
                for sent in waiting:
                    await sent
                waiting.clear()
        for sent in waiting:
            await sent
    finally:
        await producer.stop()
    return count
