"""The edge that audits: reads the last day and everything open again and again, and holds the records against each other.

What is missing pages somebody and is written into the trail; what can be put back is, in the same transaction:
a deadline, an incident, its case, the call that should be out now. Rather a page too many than silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from alerts.case import Case
from alerts.escalation import notifications
from alerts.gaps import Found, Gap, OnRecord, confirmed, due_at, gaps, mendable
from alerts.incident import ringing
from alerts.ports import Clock, Notification
from detectors.conversation import Conversation
from monitor.changes import Paging
from monitor.errors import StoreError
from monitor.observing import observing
from monitor.people import NOWHERE
from monitor.store.records import Mending, Records
from monitor.store.work import AuditRow, CaseWrite

_log = structlog.get_logger(__name__)

ACTOR = "auditor"
REASON = "gap_found"
LOOKS = 2  # a period: what goes missing just after a look is found within the period all the same
AGAIN = timedelta(seconds=1)  # a gap is looked at twice, so far apart: no transaction takes longer
BACK = timedelta(days=1)
SIGN = timedelta(seconds=10)  # of life


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """``incidents`` and ``steps`` of the trail are read at once; few, as to decode them holds up the loop.

    ``most``: open incidents, and as many of the trail, in one look; the next look goes on with the rest.
    """

    incidents: int = 25
    steps: int = 500
    most: int = 1_000


class AuditObserver(Protocol):
    def found(self, gaps: Iterable[Found]) -> None:
        """Called once they are written, with the page that tells of them."""
        ...

    def audited(self, now: datetime) -> None:
        """A sign of life."""
        ...


class Auditor:
    """Run one in each process. Two that find the same gap write the same call, once."""

    def __init__(
        self,
        records: Records,
        paging: Paging,
        clock: Clock,
        observer: AuditObserver,
        *,
        call: Callable[[Collection[Found], datetime], Notification],
        written: Callable[[], None],
        period: timedelta,
        limits: AuditLimits | None = None,
    ) -> None:
        self._records = records
        self._paging = paging
        self._clock = clock
        self._observer = observer
        self._call = call
        self._written = written
        self._period = period
        self._limits = limits or AuditLimits()
        self._began = clock.now()
        self._open: tuple[datetime, str] | None = None  # where the last look stopped short
        self._place: int | None = None  # the same in the trail

    async def run(self) -> None:
        while True:
            try:
                await self.look()
                well = True
            except StoreError as error:  # away, or somebody wrote in between: the next look finds it
                _log.warning("audit_put_off", error=type(error).__name__)
                well = True
            except Exception as error:  # noqa: BLE001 - whatever is wrong with a record, pages go on
                _log.error("audit_failed", exc_info=error)
                well = False
            await self._rest(self._period / LOOKS, well=well)

    async def _rest(self, left: timedelta, *, well: bool) -> None:
        """An auditor that cannot audit shows no sign of life, and is taken for stuck."""
        while left > timedelta(0):
            if well:
                with observing():
                    self._observer.audited(self._clock.now())
            await self._clock.sleep(min(left, SIGN))
            left -= SIGN

    async def look(self) -> list[Found]:
        """Go through what is open and what moved lately, as far as the limits allow; return what was missing."""
        since = self._clock.now() - BACK
        seen: set[str] = set()
        found = await self._fresh(await self._records.strays(since, self._limits.incidents), seen, since)
        found += await self._look_at_open(seen, since)
        found += await self._look_at_trail(seen, since)
        return found

    async def _look_at_open(self, seen: set[str], since: datetime) -> list[Found]:
        found: list[Found] = []
        enough = len(seen) + self._limits.most
        while True:
            self._open, keys = await self._records.open(self._open, self._limits.incidents)
            found += await self._fresh(keys, seen, since)
            if self._open is None or len(seen) >= enough:
                return found

    async def _look_at_trail(self, seen: set[str], since: datetime) -> list[Found]:
        found: list[Found] = []
        enough = len(seen) + self._limits.most
        place = await self._records.begin(since) if self._place is None else self._place
        while len(seen) < enough:
            reached, keys = await self._records.told_of(place, self._limits.steps)
            found += await self._fresh(keys, seen, since)
            if reached == place:
                self._place = None
                return found
            self._place = place = reached
        return found

    async def _fresh(self, keys: Iterable[str], seen: set[str], since: datetime) -> list[Found]:
        found: list[Found] = []
        fresh = [key for key in keys if key not in seen]
        seen.update(fresh)
        for start in range(0, len(fresh), self._limits.incidents):
            found += await self._audit(fresh[start : start + self._limits.incidents], since)
            with observing():
                self._observer.audited(self._clock.now())
        return found

    async def _audit(self, keys: Collection[str], since: datetime) -> list[Found]:
        if not keys:
            return []
        await asyncio.sleep(0)  # decoding is work: others first
        first = self._gaps(await self._records.load(keys, since))
        if not first:
            return []
        await self._clock.sleep(AGAIN)
        records = await self._records.load({one.incident for one in first}, since)
        found = confirmed(first, self._gaps(records))
        if found:
            await self._tell(found, {record.key: record for record in records})
        return found

    def _gaps(self, records: Iterable[OnRecord]) -> list[Found]:
        return [found for one in records for found in self._gaps_of(one)]

    def _gaps_of(self, record: OnRecord) -> list[Found]:
        now, policy = self._clock.now(), self._paging.policy
        try:
            return gaps(record, policy, now, self._began)
        except Exception:  # noqa: BLE001 - what makes no sense is found as unreadable
            return gaps(replace(record, readable=False), policy, now, self._began)

    async def _tell(self, found: list[Found], records: dict[str, OnRecord]) -> None:
        now = self._clock.now()
        mending = Mending()
        for one in found:
            told = self._put_back(one, records[one.incident], mending, now)
            mending.calls += told
            mending.audit.append(_step(one, records[one.incident], told, now))
        mending.calls.append(self._call(found, now))
        await self._records.mend(mending)
        self._written()
        with observing():
            self._observer.found(found)

    def _put_back(
        self, found: Found, record: OnRecord, mending: Mending, now: datetime
    ) -> list[Notification]:
        """Add what puts it right, if anything does; return calls that are made again."""
        if not mendable(found, record):
            return []
        case, incident = record.case, record.incident
        match found.gap:
            case Gap.DEADLINE_MISSING | Gap.DEADLINE_LATE if case and found.due:
                mending.wakes[case.conversation.key] = found.due
                mending.versions[case.conversation.key] = case.version
            case Gap.INCIDENT_MISSING | Gap.INCIDENT_DIFFERS if case and case.incident:
                mending.incidents.append(case.incident)
                mending.versions[case.conversation.key] = case.version
            case Gap.CASE_MISSING if incident:
                anew = Case(Conversation(incident.conversation), incident)
                mending.add_case(CaseWrite(anew, NOWHERE, due_at(anew, self._paging.policy)))
            case Gap.PAGE_MISSING:
                return [note for note in self._rung(record, now) if note.id in found.rows]
            case Gap.PAGE_NOT_DUE:
                mending.due += found.rows
        return []

    def _rung(self, record: OnRecord, now: datetime) -> list[Notification]:
        """What should be ringing for it now."""
        incident = record.incident or (record.case.incident if record.case else None)
        if incident is None or incident.key != record.key or (effect := ringing(incident, REASON)) is None:
            return []
        return notifications(
            incident, effect, now, self._paging.policy, self._paging.routing, self._paging.links
        )


def _step(found: Found, record: OnRecord, told: Iterable[Notification], now: datetime) -> AuditRow:
    detail = {"gap": found.gap.value, "lost": sorted(found.rows), "told": [note.id for note in told]}
    if found.gap is Gap.PAGE_NOT_DUE:
        detail["lost"] = []
    return AuditRow(found.incident, now, REASON, ACTOR, record.state, detail)
