"""The unit of work: all that one batch, one timer or one person changes, written in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from alerts.canary import Canary
from alerts.case import Case
from alerts.group import Group
from alerts.incident import Incident
from alerts.ports import Notification, Outbox
from monitor.tally.cell import Tally

Partition = tuple[str, int]  # topic, number


@dataclass(frozen=True, slots=True)
class Advance:
    """A partition's position: ``next`` is written only if ``expected`` still stands (0: never read)."""

    partition: Partition
    expected: int
    next: int


@dataclass(frozen=True, slots=True)
class CaseWrite:
    """``case.version`` is the version that was read; the store writes version + 1. 0 means new.

    ``wake_at`` is when time alone may change the case (None: never); ``partition`` is where its turns come from.
    """

    case: Case
    partition: Partition
    wake_at: datetime | None
    person: str | None = None  # pseudonym of the user; None leaves it as it is


@dataclass(frozen=True, slots=True)
class Wake:
    """A case whose time has come."""

    conversation: str
    partition: Partition
    at: datetime


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One crisis turn or one verdict, for review and rates. ``id`` makes writing it twice harmless."""

    id: str
    conversation: str
    incident: str | None
    kind: str  # "turn" | "outcome"
    at: datetime
    level: str
    score: float
    distress: float
    outcome: str | None
    reason: str
    release: str
    track: str
    lang: str
    detail: Mapping[str, Any] = field(default_factory=dict)  # evidence kinds, criteria, flags: no text


@dataclass(frozen=True, slots=True)
class AuditRow:
    """What happened to an incident, why, and who did it. Never changed, never text."""

    incident: str
    at: datetime
    reason: str
    actor: str
    state: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Words that an incident needs (M7). Sealed by the store before they are written.

    ``closed``: why they do not open, where those beside them do; then there is no text.
    """

    incident: str
    event: str
    role: str
    at: datetime
    text: str = field(repr=False)
    closed: str = ""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be read. ``payload`` is sealed by the store before it is written."""

    partition: Partition
    offset: int
    reason: str
    at: datetime
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Work:
    advances: Sequence[Advance] = ()
    cases: Sequence[CaseWrite] = ()
    incidents: Sequence[Incident] = ()  # every incident a case touched, also those no longer newest
    groups: Sequence[Group] = ()  # written over the version that was read; 0 means new
    withdrawals: Sequence[str] = ()  # incidents whose pages must not ring any more, if nobody has them yet
    notifications: Sequence[Notification] = ()  # inserted unless their id exists, after the withdrawals
    findings: Sequence[FindingRow] = ()  # inserted unless their id exists
    audit: Sequence[AuditRow] = ()
    excerpts: Sequence[Excerpt] = ()  # inserted unless (incident, event) exists
    purges: Sequence[str] = ()  # incidents whose excerpts go
    dead_letters: Sequence[DeadLetter] = ()  # inserted unless (partition, offset) exists
    tally: Tally | None = None  # what it adds to the figures


class Store(Outbox, Protocol):
    """The database. Every method raises ``StoreUnavailable`` when it does not answer within its time limit."""

    async def positions(self, partitions: Collection[Partition]) -> dict[Partition, int]:
        """Next offset of each partition that was ever read."""
        ...

    async def cases(self, conversations: Collection[str]) -> dict[str, Case]:
        """Those that exist, by conversation; one whose record is damaged as ``begun_anew``."""
        ...

    async def commit(self, work: Work) -> None:
        """Write all or nothing. Raises PositionConflict, CaseConflict or GroupConflict when somebody was faster."""
        ...

    async def due(self, now: datetime, limit: int) -> Sequence[Wake]:
        """Cases whose ``wake_at`` is at or before ``now``, earliest first. Reads only: ``commit`` decides races."""
        ...

    async def next_wake(self) -> datetime | None: ...

    async def incident(self, key: str) -> Incident | None: ...

    async def partition_of(self, conversation: str) -> Partition | None:
        """Where a case's turns come from."""
        ...

    async def partitions_of(self, conversations: Collection[str]) -> dict[str, Partition]:
        """The same of many: of those that exist, by conversation."""
        ...

    async def incidents(self, *, open_only: bool, limit: int) -> Sequence[Incident]:
        """Newest first."""
        ...

    async def alike(self, release: str, since: datetime) -> int:
        """Number of incidents of a release that were opened since."""
        ...

    async def group(self, key: str) -> Group | None: ...

    async def members(
        self, group: str, *, after: str = "", skip: int = 0, limit: int, open_only: bool = False
    ) -> Sequence[Incident]:
        """Incidents that a group tells of, by key, those beyond ``after``."""
        ...

    async def due_groups(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Group]:
        """Groups that want looking at. Nobody else gets them before ``now + lease``, or before they are written."""
        ...

    async def timeline(self, incident: str) -> Sequence[AuditRow]: ...

    async def excerpts(self, incident: str) -> Sequence[Excerpt]:
        """Unsealed, in order. Raises KeyMissing if none of them opens; one alone comes as ``closed``."""
        ...

    async def expire(self, before: datetime) -> int:
        """Delete excerpts and dead letters older than ``before`` (M7); return how many went."""
        ...

    async def expire_pieces(self, before: datetime, partitions: Collection[Partition] | None = None) -> int:
        """Delete the words of streamed messages in cases of which nothing came since ``before``, some at a time.

        ``partitions``: whose cases; None: all. Return how many cases had some. Nothing else of a case changes, its version included.
        """
        ...

    async def accepted(self, ids: Collection[str]) -> dict[str, datetime]:
        """When each of these notifications was accepted, of those that were and still stand in the outbox."""
        ...

    async def newest_canaries(self) -> Sequence[Canary]:
        """The newest one of each partition whose page was accepted and still stands in the outbox."""
        ...

    async def sweep_canaries(self, before: Canary, keep: Collection[Canary] = ()) -> None:
        """Delete what canaries due before that one have left, but for the pages of ``keep``."""
        ...

    async def ping(self) -> timedelta:
        """Time of one round trip."""
        ...

    async def probe(self, now: datetime) -> None:
        """Write something that says nothing. Raises ``StoreUnwritable`` if the disk is full."""
        ...

    async def close(self) -> None: ...
