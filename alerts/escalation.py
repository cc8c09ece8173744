"""Who is told, over which channels: effects of an incident become notifications for the outbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from alerts.delivery import Delivery, reached
from alerts.incident import TICKET, Incident, Notify, wait_of
from alerts.page import Kind, Page
from alerts.policy import Policy
from alerts.ports import Notification, row_id


@dataclass(frozen=True, slots=True)
class Routing:
    """``channels``: every configured pager by name, in order of trust. ``people``: the channels of each person.

    ``tickets``: where half-measures go; all channels if empty.
    """

    channels: tuple[str, ...]
    people: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tickets: tuple[str, ...] = ()

    def route(self, target: str) -> tuple[str, ...]:
        """The target's own channels first; then every other, for the day its own are down."""
        own = self.people.get(target, (target,))
        return (*own, *(channel for channel in self.channels if channel not in own))


@dataclass(frozen=True, slots=True)
class Links:
    """Where a page points. ``show`` and ``acknowledge`` take an incident key; None where nothing is configured."""

    show: Callable[[str], str | None]
    acknowledge: Callable[[str], str | None]
    runbook: str | None = None


def dedup_key(incident: Incident, effect: Notify) -> str:
    """One key an incident; a rise in severity and a ticket have their own, or the pager would fold silently."""
    return f"{incident.key}-{effect.alert}" if effect.alert else incident.key


def notifications(
    incident: Incident,
    effect: Notify,
    now: datetime,
    policy: Policy,
    routing: Routing,
    links: Links,
    alike: int = 1,
) -> list[Notification]:
    """Return one notification for each target. Ids tell what is said, so that saying it twice writes it once."""
    page = _page(incident, effect, policy, links, alike, now)
    return [
        Notification(
            id=row_id(page.dedup_key, effect.kind, effect.step, target),
            page=page,
            delivery=Delivery(route=_route(effect, routing, target), next_at=now),
            created_at=now,
        )
        for target in _targets(effect, policy, routing)
    ]


def elsewhere(updates: Iterable[Delivery], pages: Iterable[Delivery]) -> list[str]:
    """Channels to which an alert's pages went, by what has become of them, and that none of its updates asks first.

    A page that fell over to another channel has opened an alert there, which would go on calling people.
    """
    asked = {update.route[0] for update in updates if update.route}
    told = (reached(page) for page in pages)
    return [channel for channel in dict.fromkeys(told) if channel is not None and channel not in asked]


def _targets(effect: Notify, policy: Policy, routing: Routing) -> tuple[str, ...]:
    if effect.alert == TICKET:
        return routing.tickets or routing.channels[:1]
    if effect.kind is Kind.PAGE:
        if policy.steps:
            return policy.steps[effect.step % len(policy.steps)].targets
        return routing.channels[:1]
    # Whoever may have been rung is told that it is in hand, or over.
    told = [target for step in policy.steps for target in step.targets]
    return tuple(dict.fromkeys(told)) or routing.channels[:1]


def _route(effect: Notify, routing: Routing, target: str) -> tuple[str, ...]:
    """A page falls over to any channel; an update is of use only where the page went.

    Where that was beside the target's own channels is known when it is written (``elsewhere``).
    """
    if effect.kind.is_update:
        return routing.people.get(target, (target,))
    return routing.route(target)


def _page(
    incident: Incident, effect: Notify, policy: Policy, links: Links, alike: int, now: datetime
) -> Page:
    rings = effect.kind is Kind.PAGE
    return Page(
        kind=effect.kind,
        dedup_key=dedup_key(incident, effect),
        incident=incident.key,
        level=incident.level.value,
        outcome=incident.outcome.value if incident.outcome else "",
        reason=effect.reason,
        score=round(incident.score, 3),
        since=incident.last_crisis_at,
        deadline=incident.last_crisis_at + policy.deadline(incident.level),
        release=incident.release,
        track=incident.track,
        lang=incident.lang,
        region=incident.region,
        missing=effect.missing,
        alike=alike,
        step=effect.step,
        escalates_at=incident.escalate_at if rings else None,
        waited=wait_of(policy, effect.step - 1).total_seconds() if rings and effect.step else 0.0,
        link=links.show(incident.key),
        ack_link=links.acknowledge(incident.key) if rings else None,
        runbook=links.runbook,
        detected_at=now,
        by_phrases=incident.degraded,
        probe=incident.probe,
    )
