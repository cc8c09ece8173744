"""What a page says. It carries no user text: what may be happening, since when, and the first thing to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Kind(StrEnum):
    PAGE = "page"  # rings somebody now
    TICKET = "ticket"  # is read in working hours
    ACKNOWLEDGE = "acknowledge"  # tells the pager that somebody is on it
    RESOLVE = "resolve"  # tells the pager that it is over

    @property
    def is_update(self) -> bool:
        """It says something of an alert that the pager has, and rings nobody."""
        return self in (Kind.ACKNOWLEDGE, Kind.RESOLVE)


class Trouble(StrEnum):
    """What is wrong with the monitor itself."""

    LINE_STOPPED = "line_stopped"
    READING_STALLED = "reading_stalled"
    RECORDS_MISSING = "records_missing"
    OTHER = "other"  # a later release wrote it, and this one has no words for it


@dataclass(frozen=True, slots=True)
class Page:
    """One notification's content (DESIGN §7). Every field is ours or an enum of ours; none is a user's.

    ``dedup_key`` is the incident's key, with a suffix when a rise in severity must ring again.
    ``alike`` counts incidents of the same release in the last hour.
    """

    kind: Kind
    dedup_key: str
    incident: str
    level: str
    outcome: str
    reason: str
    score: float
    since: datetime
    deadline: datetime | None
    release: str
    track: str
    lang: str
    region: str
    missing: tuple[str, ...] = ()
    alike: int = 1
    step: int = 0
    escalates_at: datetime | None = None
    waited: float = (
        0.0  # a repeat: seconds that the step before had to be answered in; 0 where that is not known
    )
    link: str | None = None
    ack_link: str | None = None
    runbook: str | None = None
    test: bool = False
    canary: bool = False  # the monitor's own test of the whole way: wakes nobody (``alerts.canary``)
    degraded: bool = False  # sent while the database was away
    by_phrases: bool = False  # the encoder had failed: explicit phrases alone judged some of it
    detected_at: datetime | None = None
    trouble: Trouble | None = (
        None  # set when the page is about the monitor itself: no conversation is behind it
    )
    group: int = 0  # how many incidents a grouped page tells of; ``incident`` is then the group's key
    probe: bool = False  # about a scripted synthetic user
