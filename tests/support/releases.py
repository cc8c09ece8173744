"""Releases in a database: figures by the way that a worker's go, and styles of a made-up release beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from detectors.drift.packing import pack
from detectors.drift.sketch import StyleSketch
from monitor.store.sql import SqlStore
from monitor.store.tallies import SqlTallies
from monitor.tally.cell import HOUR, Cell, Where, hour_of
from monitor.tally.hours import Hour, Place
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.stores import KEYRING
from tests.support.styles import Release, draw, feed, replies_of
from tests.support.tallies import a_publisher
from tests.support.worker import Worker, reply, user

WORDS: Final = "canary-7f3a 金丝雀"  # what users and assistants say, to be found nowhere
PERSON: Final = "conversation-of-somebody"
SINCE, UNTIL = EPOCH - timedelta(days=1), EPOCH + timedelta(days=1)
SPAN: Final = ["--since", SINCE.isoformat(), "--until", UNTIL.isoformat()]


@dataclass(frozen=True)
class Ran:
    """A release as it ran: crises caught and dropped, each in a conversation of its own; and replies of a style."""

    release: str
    track: str = "production"
    caught: int = 0
    dropped: int = 0
    replies: int = 0
    style: Release = field(default_factory=Release)
    model: str = "one"
    hours_ago: int = 0
    probe: bool = False
    latency_ms: float = 1200


async def fill(url: str, *ran: Ran) -> None:
    """At ``EPOCH``, or so many hours before."""
    for number, one in enumerate(ran):
        store = SqlStore(url, KEYRING)
        clock = FakeClock(EPOCH - one.hours_ago * HOUR)
        worker = Worker(store, clock)
        worker.topic.partition = ("turns", number)
        await worker.read(
            *(line for at in range(one.caught + one.dropped) for line in _conversation(one, at))
        )
        await worker.wait(3)
        await worker.timers.fire(clock.now())
        publisher = a_publisher(SqlTallies(store.database), clock)
        await publisher.look()
        await _add_style(SqlTallies(store.database), one, hour_of(clock.now()), seed=number)
        await publisher.close()
        await store.close()


def _conversation(one: Ran, number: int) -> Sequence[bytes]:
    name = f"{PERSON} {one.release} {one.track} {number}"
    facts = {"release": one.release, "track": one.track} | ({"probe": True} if one.probe else {})
    second = -3600 * one.hours_ago + number * 0.01
    answer = "good" if number < one.caught else "sleep tip"
    return [
        user(name, f"crisis|{WORDS}", second, **facts),
        reply(name, f"{answer}|{WORDS}", second + 1, latency_ms=one.latency_ms + number % 7, **facts),
    ]


async def _add_style(tallies: SqlTallies, one: Ran, hour: datetime, seed: int) -> None:
    if not one.replies:
        return
    chance = np.random.default_rng(seed)
    sketch = feed(
        StyleSketch(one.model), replies_of(draw(one.style, one.replies, chance, traced=True), chance)
    )
    lease = await tallies.lease()
    assert lease is not None
    where = Where(one.track, one.release, "all", "all", "probe" if one.probe else "live")
    assert await tallies.fold(lease.term, [], {Place(hour, where): Hour(Cell(), pack(sketch))})
