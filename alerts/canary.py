"""The monitor's own canary: a made-up crisis that goes the whole way to a test page, to prove that the way is open (P7).

Its case is decided like any other. What it must never do is wake a person or count among people's figures. Its
conversation has a key that no pseudonym has, given only to events that the monitor signed itself; so a canary is
known from its key, and nothing that a producer writes makes one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from alerts.delivery import Delivery
from alerts.page import Kind
from alerts.ports import Notification

CHANNEL = "canary"  # the only one that its pages go to, and that no other page goes to
CANARIES = "canary-"  # how the key of each one's conversation begins
_KEY = re.compile(r"canary-([0-9a-f]{8})([0-9a-f]{4})")
_INCIDENT = re.compile(rf"jz-({_KEY.pattern})-1")


@dataclass(frozen=True, slots=True, order=True)
class Canary:
    """``at``: the second since 1970 at which it is due; with the partition, its name everywhere."""

    at: int
    partition: int

    @property
    def due(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)

    @property
    def conversation(self) -> str:
        return f"canary-{self.at:08x}{self.partition:04x}"

    @property
    def incident(self) -> str:
        return f"jz-{self.conversation}-1"

    @property
    def notification(self) -> str:
        """The id of its page's row in the outbox."""
        return f"{self.incident}:page:0:{CHANNEL}"


def is_canary(conversation: str) -> bool:
    """Pseudonyms are hexadecimal, so none is taken for one."""
    return conversation.startswith(CANARIES)


def canary_of(incident: str) -> Canary | None:
    """The canary behind a page, if one is."""
    found = _INCIDENT.fullmatch(incident)
    return None if found is None else Canary(int(found[2], 16), int(found[3], 16))


def as_test(notifications: Sequence[Notification]) -> list[Notification]:
    """What a canary's incident tells people becomes one page for the canary's channel: no repeats, no updates."""
    calls = [note for note in notifications if note.page.kind is Kind.PAGE and note.page.step == 0]
    canary = canary_of(calls[0].page.incident) if calls else None
    if canary is None or calls[0].page.dedup_key != canary.incident:
        return []
    page = replace(
        calls[0].page,
        test=True,
        canary=True,
        escalates_at=None,
        link=None,
        ack_link=None,
        runbook=None,
    )
    delivery = Delivery(route=(CHANNEL,), next_at=calls[0].delivery.next_at)
    return [Notification(canary.notification, page, delivery, calls[0].created_at)]
