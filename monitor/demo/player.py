"""Puts the script into Kafka, event by event at its time, as an app would."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from aiokafka import AIOKafkaProducer

from alerts.ports import Clock
from monitor.demo.script import Say, Scene


@dataclass(frozen=True, slots=True)
class Event:
    """``at`` is what the event says, ``send`` when it is put into Kafka, in seconds from the start."""

    send: float
    at: float
    conversation: str
    content: dict[str, Any]


def conversation_id(scene: Scene) -> str:
    return f"demo: {scene.name}"


def events(scene: Scene) -> list[Event]:
    """Return the events of a scene; the content still lacks its time."""
    return [event for number, say in enumerate(scene.says) for event in _events(scene, number, say)]


def _events(scene: Scene, number: int, say: Say) -> list[Event]:
    name = conversation_id(scene)
    content = {
        "event_id": f"{name} {number}",
        "conversation_id": name,
        "role": say.role,
        "text": say.text,
        "release": scene.release,
        "track": scene.track,
        "app": "demo",
        "lang": scene.lang,
        **({"region": scene.region} if scene.region else {}),
    }
    if say.pieces > 1:
        return _pieces(say, name, content)
    send = say.arrives if say.arrives is not None else say.at
    return [Event(send + 0.3 * copy, say.at, name, content) for copy in range(say.repeats + 1)]


def _pieces(say: Say, name: str, content: dict[str, Any]) -> list[Event]:
    size = -(-len(say.text) // say.pieces)
    made = []
    for index in range(say.pieces):
        at = say.at + 0.1 * index
        part = {
            **content,
            "event_id": f"{content['event_id']} piece {index}",
            "text": say.text[index * size : (index + 1) * size],
            "message_id": content["event_id"],
            "final": index == say.pieces - 1,
        }
        made.append(Event(at, at, name, part))
    return made


class Player:
    """``decided_at`` tells of each scene when the event was sent that decides it."""

    def __init__(self, bootstrap_servers: str, topic: str, clock: Clock) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._topic = topic
        self._clock = clock
        self.decided_at: dict[str, datetime] = {}

    async def play(self, scenes: tuple[Scene, ...], poison: float) -> None:
        """Play all scenes side by side, and put a record that nobody can read among them."""
        producer = AIOKafkaProducer(bootstrap_servers=self._bootstrap_servers, acks="all")
        await producer.start()
        try:
            begun = self._clock.now()
            script = sorted((event for scene in scenes for event in events(scene)), key=lambda e: e.send)
            broken = asyncio.create_task(self._broken(producer, poison))
            for event in script:
                wait = begun + timedelta(seconds=event.send) - self._clock.now()
                await self._clock.sleep(max(wait, timedelta(0)))
                await self._send(producer, event, begun)
            await broken
        finally:
            await producer.stop()

    async def _send(self, producer: AIOKafkaProducer, event: Event, begun: datetime) -> None:
        at = begun + timedelta(seconds=event.at)
        body = orjson.dumps({**event.content, "at": at.isoformat()})
        await producer.send_and_wait(self._topic, body, key=event.conversation.encode())
        self.decided_at[event.conversation] = self._clock.now()

    async def _broken(self, producer: AIOKafkaProducer, after: float) -> None:
        await self._clock.sleep(timedelta(seconds=after))
        await producer.send_and_wait(self._topic, b'{"event_id": "half an ev')
