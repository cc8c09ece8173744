"""Pages about the monitor itself: no conversation is behind them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from alerts.delivery import Delivery
from alerts.gaps import Found
from alerts.page import Kind, Page, Trouble
from alerts.ports import Notification
from monitor.decode.dead_letters import StopReason
from monitor.settings import Settings, channel_names
from monitor.standstill import Standstill


def runbook(settings: Settings, alert: str) -> str | None:
    """Where the runbook of an alert stands (``deploy/runbooks``, one file an alert)."""
    base = settings.http.runbook_url
    return None if base is None else f"{base.rstrip('/')}/{alert}.md"


def line_stopped(settings: Settings, reason: StopReason, now: datetime) -> Notification:
    """Call somebody: too many events cannot be read, so that none is read any more."""
    key = f"jz-line-stopped-{settings.kafka.group_id}-{settings.kafka.topic}-{now:%Y%m%dT%H%M%S}"
    page = _about_us(settings, Trouble.LINE_STOPPED, key, reason.value, now, "JiezhuLineStopped")
    return Notification(f"{key}:page", page, Delivery(route=tuple(channel_names(settings)), next_at=now), now)


def reading_stalled(
    settings: Settings, standstill: Standstill, now: datetime, kind: Kind, time: int, *, worker: str
) -> Notification:
    """Call somebody, for the ``time``-th time; or say that it is over.

    Each worker has an alert of its own: of a shared one, the first that reads again would say that all do.
    """
    name = f"{settings.kafka.group_id}-{settings.kafka.topic}-{standstill.cause.value}"
    key = f"jz-reading-stalled-{name}-{standstill.since:%Y%m%dT%H%M%S}-{worker}"
    page = _about_us(
        settings, Trouble.READING_STALLED, key, standstill.cause.value, now, "JiezhuReadingStalled"
    )
    page = replace(page, kind=kind, step=time, since=standstill.since)
    route = tuple(channel_names(settings))
    return Notification(f"{key}:{kind.value}:{time}", page, Delivery(route=route, next_at=now), now)


def records_missing(settings: Settings, found: Collection[Found], now: datetime) -> Notification:
    """Call somebody: what is on record does not fit together. Two workers that find the same make the same call.

    The same gap, found again after it was written into the trail, makes another.
    """
    facts = sorted(f"{one.gap.value} {one.incident} {sorted(one.rows)} {one.after}" for one in found)
    digest = sha256("\n".join(facts).encode()).hexdigest()[:16]
    key = f"jz-records-{settings.kafka.group_id}-{settings.kafka.topic}-{digest}"
    reason = ", ".join(sorted({one.gap.value for one in found}))
    page = _about_us(settings, Trouble.RECORDS_MISSING, key, reason, now, "JiezhuRecordsMissing")
    return Notification(f"{key}:page", page, Delivery(route=tuple(channel_names(settings)), next_at=now), now)


def _about_us(settings: Settings, trouble: Trouble, key: str, reason: str, now: datetime, alert: str) -> Page:
    return Page(
        kind=Kind.PAGE,
        dedup_key=key,
        incident=key,
        level="",
        outcome="",
        reason=reason,
        score=0.0,
        since=now,
        deadline=None,
        release="",
        track="",
        lang="",
        region="",
        trouble=trouble,
        runbook=runbook(settings, alert),
        detected_at=now,
    )


def test_page(now: datetime) -> Page:
    """A page that says TEST, for trying a channel."""
    return Page(
        kind=Kind.PAGE,
        dedup_key=f"jz-test-{now:%Y%m%dT%H%M%S}",
        incident="test",
        level="active_ideation",
        outcome="unhandled",
        reason="test",
        score=1.0,
        since=now,
        deadline=None,
        release="test",
        track="staging",
        lang="und",
        region="",
        test=True,
        detected_at=now,
    )
