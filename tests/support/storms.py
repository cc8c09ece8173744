"""Rows of the outbox as incidents write them, many at once, and a relay's admission over an outbox in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from alerts.escalation import Links
from alerts.memory_outbox import MemoryOutbox
from alerts.page import Kind
from alerts.ports import Notification
from alerts.relay import Grouping
from alerts.storm import Admitted, StormPolicy
from tests.support.fake_clock import EPOCH
from tests.support.pages import a_notification

LEASE = timedelta(seconds=15)
LINKS = Links(
    lambda key: f"https://jiezhu.example/{key}/show", lambda key: f"https://jiezhu.example/{key}/ack"
)
GROUPING = Grouping(StormPolicy(), LINKS)
FIVE = timedelta(minutes=5)


def a_row(
    number: int,
    now: datetime = EPOCH,
    *,
    target: str = "anna",
    step: int = 0,
    kind: Kind = Kind.PAGE,
    alert: str = "",
    **facts: Any,
) -> Notification:
    """What ``alerts.escalation`` writes for incident ``number``."""
    incident = f"jz-{number:020}-1"
    key = f"{incident}-{alert}" if alert else incident
    told = {"level": "active_ideation", "outcome": "unhandled", "release": "7.2", "track": "production"}
    return a_notification(
        f"{key}:{kind.value}:{step}:{target}",
        route=(target, "other"),
        created_at=now,
        **told
        | {
            "dedup_key": key,
            "incident": incident,
            "kind": kind,
            "step": step,
            "escalates_at": now + FIVE,
        }
        | facts,
    )


def rows(count: int, now: datetime = EPOCH, first: int = 0, **facts: Any) -> list[Notification]:
    return [a_row(number, now, **facts) for number in range(first, first + count)]


async def admitted(
    outbox: MemoryOutbox, now: datetime, given: Sequence[Notification] = (), grouping: Grouping = GROUPING
) -> Admitted:
    """Write rows, claim all that is due, and decide."""
    outbox.add(given)
    claimed = await outbox.claim(now, LEASE, 100_000)
    return await outbox.admit(claimed, now, grouping.decide)
