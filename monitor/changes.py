"""From decisions to rows: what the store must write for cases that were advanced. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from alerts.case import Advanced, Happened
from alerts.escalation import Links, Routing, notifications
from alerts.incident import Notify, Purge
from alerts.policy import Policy
from alerts.ports import Notification
from alerts.watch import Watch
from detectors.conversation import Entry
from detectors.finding import UserSignal
from monitor.store.work import AuditRow, CaseWrite, Excerpt, FindingRow, Partition

Alike = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Paging:
    """What is needed to turn an effect into notifications."""

    policy: Policy
    routing: Routing
    links: Links


def case_write(advanced: Advanced, partition: Partition) -> CaseWrite:
    return CaseWrite(advanced.case, partition, advanced.wake_at)


def notifications_of(happened: Iterable[Happened], paging: Paging, alike: Alike) -> list[Notification]:
    """Every notification that a run of transitions asks for, in order."""
    return [
        notification
        for step in happened
        for effect in step.effects
        if isinstance(effect, Notify)
        for notification in notifications(
            step.incident,
            effect,
            step.at,
            paging.policy,
            paging.routing,
            paging.links,
            alike(step.incident.release),
        )
    ]


def purges_of(happened: Iterable[Happened]) -> list[str]:
    return [step.incident.key for step in happened if any(isinstance(e, Purge) for e in step.effects)]


def audit_of(happened: Iterable[Happened], actor: str) -> list[AuditRow]:
    return [
        AuditRow(
            incident=step.incident.key,
            at=step.at,
            reason=step.reason,
            actor=actor,
            state=step.incident.state.value,
            detail={
                "level": step.incident.level.value,
                "outcome": step.incident.outcome.value if step.incident.outcome else None,
                "step": step.incident.step,
            },
        )
        for step in happened
    ]


def turn_finding(conversation: str, incident: str | None, entry: Entry, signal: UserSignal) -> FindingRow:
    """A crisis turn, in its context."""
    return FindingRow(
        id=f"{conversation}:{entry.event}:turn",
        conversation=conversation,
        incident=incident,
        kind="turn",
        at=entry.at,
        level=signal.level.value,
        score=signal.score,
        distress=signal.distress,
        outcome=None,
        reason=signal.evidence[0].kind if signal.evidence else "context",
        release=entry.release,
        track=entry.track.value,
        lang=signal.language,
        detail={
            "cues": [cue.value for cue in signal.cues],
            "emotions": [emotion.value for emotion in signal.emotions],
            "evidence": [
                {"kind": e.kind, "source": e.source, "window": e.window, "weight": round(e.weight, 3)}
                for e in signal.evidence
            ],
        },
    )


def verdict_finding(conversation: str, incident: str | None, watch: Watch) -> FindingRow:
    """What the assistant did about a crisis turn."""
    return FindingRow(
        id=f"{conversation}:{watch.anchor}:outcome:{watch.outcome.value}",
        conversation=conversation,
        incident=incident,
        kind="outcome",
        at=watch.at,
        level=watch.level.value,
        score=watch.score,
        distress=watch.distress,
        outcome=watch.outcome.value,
        reason=watch.reason,
        release=watch.release,
        track=watch.track.value,
        lang=watch.lang,
        detail={
            "criteria": {criterion.value: met for criterion, met in watch.criteria.items()},
            "missing": [criterion.value for criterion in watch.missing],
            "flags": [flag.value for flag in watch.flags],
        },
    )


def excerpts_of(advanced: Advanced, texts: Mapping[str, str]) -> list[Excerpt]:
    """The words of this batch that an open incident needs (M7); none where no incident is open."""
    incident = advanced.case.incident
    if incident is None or incident.state.over:
        return []
    return [
        Excerpt(incident.key, entry.event, entry.role.value, entry.at, texts[entry.event])
        for entry in advanced.case.conversation.entries
        if entry.event in texts
    ]
