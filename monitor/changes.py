"""From decisions to rows: what the store must write for cases that were advanced. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.canary import as_test, is_canary
from alerts.case import Advanced, Happened
from alerts.escalation import Links, Routing, notifications
from alerts.incident import Notify, Purge
from alerts.page import Kind
from alerts.policy import Policy
from alerts.ports import Notification
from alerts.watch import Watch
from detectors.conversation import Entry
from detectors.finding import UserSignal
from monitor.store.work import AuditRow, CaseWrite, Excerpt, FindingRow, Partition, Store, Work

Settle = Callable[[list[Notification]], list[Notification]]

ALIKE_SPAN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Paging:
    """What is needed to turn an effect into notifications."""

    policy: Policy
    routing: Routing
    links: Links
    # Marks notifications that went out while the database was away as accepted.
    settle: Settle = list


def decided(
    results: Sequence[tuple[Advanced, Partition]], paging: Paging, alike: Mapping[str, int], actor: str
) -> Work:
    """All that follows from cases that were advanced: the part of the work that every writer shares.

    Of a canary's case only its page follows, and time does nothing more to it once that is written.
    """
    canaries = [(a, p) for a, p in results if is_canary(a.case.conversation.key)]
    results = [(a, p) for a, p in results if not is_canary(a.case.conversation.key)]
    happened = [step for advanced, _ in results for step in advanced.happened]
    told = [_notifications(step, paging, alike) for step in happened]
    tests = [note for advanced, _ in canaries for note in _tests(advanced, paging)]
    return Work(
        cases=[
            *(
                CaseWrite(advanced.case, partition, wake_of(advanced))
                for advanced, partition in [*results, *canaries]
            ),
        ],
        incidents=list({step.incident.key: step.incident for step in happened}.values()),
        withdrawals=[s.incident.key for s in happened if _tells(s, Kind.RESOLVE)],
        notifications=paging.settle([*(note for notes in told for note in notes), *tests]),
        findings=[_verdict(advanced, watch) for advanced, _ in results for watch in advanced.verdicts],
        audit=[_audit(step, actor, notes) for step, notes in zip(happened, told, strict=True)],
        purges=[s.incident.key for s in happened if any(isinstance(e, Purge) for e in s.effects)],
    )


async def count_alike(store: Store, results: Iterable[Advanced], now: datetime) -> dict[str, int]:
    """Incidents of the last hour by release, for the releases that somebody is about to be told of."""
    releases = {step.incident.release for result in results for step in result.happened if step.effects}
    return {release: max(await store.alike(release, now - ALIKE_SPAN), 1) for release in sorted(releases)}


def _notifications(step: Happened, paging: Paging, alike: Mapping[str, int]) -> list[Notification]:
    return [
        notification
        for effect in step.effects
        if isinstance(effect, Notify)
        for notification in notifications(
            step.incident,
            effect,
            step.at,
            paging.policy,
            paging.routing,
            paging.links,
            alike.get(step.incident.release, 1),
        )
    ]


def _tests(advanced: Advanced, paging: Paging) -> list[Notification]:
    return [note for step in advanced.happened for note in as_test(_notifications(step, paging, {}))]


def wake_of(advanced: Advanced) -> datetime | None:
    """When time does something to a case; never again to a canary's once its page is written."""
    incident = advanced.case.incident
    rung = incident is not None and incident.rank > 0
    return None if rung and is_canary(advanced.case.conversation.key) else advanced.wake_at


def _tells(step: Happened, kind: Kind) -> bool:
    return any(isinstance(effect, Notify) and effect.kind is kind for effect in step.effects)


def _audit(step: Happened, actor: str, told: Sequence[Notification]) -> AuditRow:
    """``told`` names the outbox rows that this step wrote, so that one which is missed later is known (``alerts.gaps``)."""
    return AuditRow(
        incident=step.incident.key,
        at=step.at,
        reason=step.reason,
        actor=actor,
        state=step.incident.state.value,
        detail={
            "level": step.incident.level.value,
            "outcome": step.incident.outcome.value if step.incident.outcome else None,
            "step": step.incident.step,
            "told": [note.id for note in told],
        },
    )


def turn_finding(advanced: Advanced, entry: Entry, signal: UserSignal) -> FindingRow:
    """A crisis turn, in its context."""
    conversation = advanced.case.conversation.key
    return FindingRow(
        id=f"{conversation}:{entry.event}:turn",
        conversation=conversation,
        incident=advanced.case.incident.key if advanced.case.incident else None,
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


def _verdict(advanced: Advanced, watch: Watch) -> FindingRow:
    """What the assistant did about a crisis turn."""
    conversation = advanced.case.conversation.key
    return FindingRow(
        id=f"{conversation}:{watch.anchor}:outcome:{watch.outcome.value}",
        conversation=conversation,
        incident=advanced.case.incident.key if advanced.case.incident else None,
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


def excerpts_of(advanced: Advanced, scored: Mapping[tuple[str, str], tuple[str, object]]) -> list[Excerpt]:
    """The words of this batch that an open incident needs (M7); none where no incident is open."""
    incident = advanced.case.incident
    if incident is None or incident.state.over or is_canary(incident.conversation):
        return []
    key = advanced.case.conversation.key
    return [
        Excerpt(incident.key, entry.event, entry.role.value, entry.at, scored[key, entry.event][0])
        for entry in advanced.case.conversation.entries
        if (key, entry.event) in scored
    ]
