"""What may be forgotten: nothing of somebody whom nobody has caught yet. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from alerts.case import Case
from alerts.gaps import verdict_due
from alerts.incident import Incident, State
from alerts.policy import Policy


class Hold(StrEnum):
    """Why the record of a conversation stays for now; its words may go."""

    RINGING = "ringing"  # nobody has answered
    WATCHED = "watched"  # a verdict is to come
    EPISODE = "episode"  # a person is on it, and it may not be over


def hold(case: Case | None, incidents: Iterable[Incident], now: datetime, policy: Policy) -> Hold | None:
    """Return why a conversation cannot be forgotten yet; None if it can.

    To forget somebody who is being rung for would end the ringing; the wish to be forgotten waits until a person
    has answered and the episode is quiet (vital interests, GDPR Art. 9(2)(c) and 17(3)). Who was caught is let go of.
    """
    known = list(incidents)
    if any(one.state is State.PAGING for one in known):
        return Hold.RINGING
    if case is not None and verdict_due(case, policy):
        return Hold.WATCHED
    taken = [one for one in known if one.state is State.ACKNOWLEDGED]
    if any(now - _heard_of(one, case, now) <= policy.quiet for one in taken):
        return Hold.EPISODE
    return None


def _heard_of(incident: Incident, case: Case | None, now: datetime) -> datetime:
    """When there was last a sign of the episode, by our own clock: the app's may be far behind.

    The app's counts only where it tells of something later that can be, as a crisis turn may have left the window.
    """
    seen = [incident.acknowledged_at or incident.opened_at]
    if case is not None:
        crises = {event for event, fact in case.known.items() if fact.severity}
        seen += [entry.received for entry in case.conversation.entries if entry.event in crises]
    if incident.last_crisis_at <= now:
        seen.append(incident.last_crisis_at)
    return max(seen)


def unfinished(incidents: Iterable[Incident]) -> list[Incident]:
    """Those that stand open at a pager: they are closed there before they are forgotten."""
    return [one for one in incidents if not one.state.over and (one.rung or one.ticketed_at is not None)]
