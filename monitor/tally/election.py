"""Who publishes: at most one worker at a time, whatever dies, stands still or is cut off from the database. Pure.

The lease stands in the database under a term. Nobody takes it before it is over by the time that all workers share *and* it has
stood unchanged for a whole lease on the taker's own steady clock: so clocks that are apart, or set, elect nobody too early. Whoever
holds it counts its own lease from before it asked, and shows nothing of it a margin before another could take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

LEASE: Final = timedelta(seconds=15)
MARGIN: Final = timedelta(seconds=3)
SHOWN: Final = LEASE - MARGIN
"""How long figures are shown after the lease was last asked for."""


@dataclass(frozen=True, slots=True)
class Lease:
    """``holder`` is empty after one that went. ``until`` is by the time that all workers share."""

    term: int
    holder: str
    until: datetime


class Reason(StrEnum):
    NOBODY_YET = "nobody_yet"
    MINE = "mine"
    GIVEN_UP = "given_up"  # its holder has said so
    OVER = "over"
    HELD = "held"  # by the time of all
    JUST_SEEN = "just_seen"  # over by the time of all, but it was renewed within a lease by our own clock


@dataclass(frozen=True, slots=True)
class Decision:
    """``ask`` is the lease to be written over the one that was seen; None: wait."""

    reason: Reason
    ask: Lease | None = None


def decide(seen: Lease | None, me: str, now: datetime, unchanged: timedelta) -> Decision:
    """``unchanged``: for how long at least the lease has stood as it does, by our own clock."""
    until = now + LEASE
    if seen is None:
        return Decision(Reason.NOBODY_YET, Lease(1, me, until))
    if seen.holder == me:
        return Decision(Reason.MINE, Lease(seen.term, me, until))
    if not seen.holder:
        return Decision(Reason.GIVEN_UP, Lease(seen.term + 1, me, until))
    # Nobody is given more than a lease: one that reaches further was written by a clock that was wrong.
    if now < seen.until <= now + LEASE:
        return Decision(Reason.HELD)
    if unchanged < LEASE:
        return Decision(Reason.JUST_SEEN)
    return Decision(Reason.OVER, Lease(seen.term + 1, me, until))


@dataclass(slots=True)
class Watched:
    """Since when the lease stands as it does, by our own clock (seconds that nobody sets)."""

    lease: Lease | None = None
    since: float | None = None

    def saw(self, lease: Lease | None, asked: float, answered: float) -> timedelta:
        """Return for how long it has stood so at least: from the answer that showed it first to the question asked last."""
        if self.since is None or lease != self.lease:
            self.lease, self.since = lease, answered
        return timedelta(seconds=max(asked - self.since, 0.0))
