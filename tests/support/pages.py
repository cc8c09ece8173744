"""Pages and notifications to test with."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from alerts.delivery import Delivery
from alerts.page import Kind, Page
from alerts.ports import Notification
from tests.support.fake_clock import EPOCH


def a_page(**changes: Any) -> Page:
    facts: dict[str, Any] = {
        "kind": Kind.PAGE,
        "dedup_key": "i-1",
        "incident": "i-1",
        "level": "plan_intent",
        "outcome": "unhandled",
        "reason": "sleep_tip",
        "score": 0.874,
        "since": EPOCH,
        "deadline": EPOCH + timedelta(seconds=30),
        "release": "assistant-7.2",
        "track": "canary",
        "lang": "zh",
        "region": "CN",
        "missing": ("risk_recognised", "refers"),
        "link": "https://jiezhu.example/incidents/i-1",
        "ack_link": "https://jiezhu.example/incidents/i-1/acknowledge?signature=s",
        "runbook": "https://jiezhu.example/runbook",
        "detected_at": EPOCH,
    }
    return Page(**{**facts, **changes})


def a_notification(
    key: str = "n-1",
    *,
    route: tuple[str, ...] = ("first", "second"),
    created_at: datetime = EPOCH,
    delivery: Delivery | None = None,
    **changes: Any,
) -> Notification:
    page = a_page(**{"dedup_key": key, "incident": key, **changes})
    return Notification(key, page, delivery or Delivery(route), created_at)
