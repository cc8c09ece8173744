"""What people do to incidents: acknowledge and resolve, from the command line or a signed link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from alerts.case import Happened, advance, put
from alerts.incident import Acknowledged, Event, Incident, Resolved, transition
from alerts.moment import Moment
from alerts.ports import Clock
from monitor.changes import Paging, count_alike, decided
from monitor.errors import CaseConflict
from monitor.store.work import Partition, Store

CONFLICTS = 20
NOWHERE: Partition = ("", 0)


class Answer(StrEnum):
    DONE = "done"
    ALREADY = "already"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Deed:
    answer: Answer
    incident: Incident | None = None


class People:
    def __init__(
        self, store: Store, paging: Paging, clock: Clock, written: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._paging = paging
        self._clock = clock
        self._written = written

    async def acknowledge(self, key: str, by: str) -> Deed:
        """``by`` is a name or address of staff; it goes into the audit."""
        return await self._put(key, Acknowledged(by), by)

    async def resolve(self, key: str, by: str, verdict: str | None) -> Deed:
        """``verdict``: true_miss, false_alarm … as the reviewer says."""
        return await self._put(key, Resolved(by, verdict), by)

    async def _put(self, key: str, event: Event, by: str) -> Deed:
        for _ in range(CONFLICTS):
            incident = await self._store.incident(key)
            if incident is None:
                return Deed(Answer.UNKNOWN)
            case = (await self._store.cases([incident.conversation])).get(incident.conversation)
            if case is None:
                return Deed(Answer.UNKNOWN)
            now = self._clock.now()
            # A deed lets no time pass: deadlines are the timers' to decide, who know the source's progress.
            moment = Moment(now, None, caught_up=False)
            if case.incident is not None and case.incident.key == key:
                advanced = put(case, event, moment, self._paging.policy)
            else:
                done = transition(incident, event, now, self._paging.policy)
                happened = [Happened(done.incident, done.reason, done.effects, now)]
                rest = advance(case, moment, self._paging.policy)
                older = happened if done.incident != incident else []
                advanced = replace(rest, happened=(*older, *rest.happened))
            if not advanced.happened:
                return Deed(Answer.ALREADY, incident)
            partition = await self._store.partition_of(incident.conversation) or NOWHERE
            alike = await count_alike(self._store, [advanced], now)
            work = decided([(advanced, partition)], self._paging, alike, by)
            try:
                await self._store.commit(work)
            except CaseConflict:
                continue
            self._written()
            return Deed(Answer.DONE, advanced.happened[0].incident)
        raise CaseConflict(frozenset())
