"""What people do to incidents: acknowledge, resolve and review, from the command line or a signed link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from alerts.case import Advanced, Case, Happened, advance, put
from alerts.incident import Acknowledged, Incident, Resolved, Reviewed, transition
from alerts.moment import Moment
from alerts.ports import Clock
from monitor.changes import Paging, count_alike, decided
from monitor.errors import CaseConflict
from monitor.store.work import Partition, Store
from monitor.tallying import Tallying
from monitor.unreadable import instead_of

CONFLICTS = 20
NOWHERE: Partition = ("", 0)


class Answer(StrEnum):
    DONE = "done"
    ALREADY = "already"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Deed:
    """``incident`` as it stands afterwards; None only if it is unknown."""

    answer: Answer
    incident: Incident | None = None


class People:
    def __init__(
        self,
        store: Store,
        paging: Paging,
        clock: Clock,
        written: Callable[[], None] = lambda: None,
        tallying: Tallying | None = None,
    ) -> None:
        self._store = store
        self._paging = paging
        self._clock = clock
        self._written = written
        self._tallying = tallying

    async def acknowledge(self, key: str, by: str) -> Deed:
        """``by`` is a name or address of staff; it goes into the audit."""
        return await self._put(key, Acknowledged(by), by)

    async def resolve(self, key: str, by: str, verdict: str | None) -> Deed:
        """``verdict``: true_miss, false_alarm … as the reviewer says."""
        return await self._put(key, Resolved(by, verdict), by)

    async def review(self, key: str, by: str, verdict: str) -> Deed:
        """``verdict`` of one that is over and has none yet."""
        return await self._put(key, Reviewed(by, verdict), by)

    async def _put(self, key: str, event: Acknowledged | Resolved | Reviewed, by: str) -> Deed:
        for _ in range(CONFLICTS):
            incident = await self._store.incident(key)
            if incident is None:
                return Deed(Answer.UNKNOWN)
            case = (await self._store.cases([incident.conversation])).get(incident.conversation)
            if case is None:
                return Deed(Answer.UNKNOWN)
            if case.incident is not None and case.incident.key == key:
                incident = case.incident
            now = self._clock.now()
            done = transition(incident, event, now, self._paging.policy)
            if done.incident == incident and not done.effects:
                return Deed(Answer.ALREADY, incident)
            happened = Happened(done.incident, done.reason, done.effects, now)
            advanced = self._advanced(case, event, happened)
            partition = await self._store.partition_of(incident.conversation) or NOWHERE
            alike = await count_alike(self._store, [advanced], now)
            work = decided([(advanced, partition)], self._paging, alike, by)
            if self._tallying is not None and isinstance(event, (Resolved, Reviewed)):
                work = replace(work, tally=self._tallying.of_review(done.incident, now))
            try:
                await self._store.commit(work)
            except CaseConflict:
                continue
            self._written()
            return Deed(Answer.DONE, done.incident)
        raise CaseConflict(frozenset())

    async def put_all(
        self,
        incidents: Sequence[Incident],
        event: Acknowledged | Resolved,
        by: str,
        meant: Callable[[Incident], bool] = lambda _: True,
    ) -> Sequence[str]:
        """Do the same to many in one transaction; return the keys of those that somebody else was writing.

        ``meant`` is asked about each as it stands when it is written: what happened to it since it was looked
        at may be what nobody has seen.
        """
        waiting = {incident.conversation: incident for incident in incidents}
        left = [one.key for one in incidents if waiting[one.conversation] is not one]
        while waiting:
            now = self._clock.now()
            cases = await self._store.cases(waiting)
            partitions = await self._store.partitions_of(waiting)
            results: list[tuple[Advanced, Partition]] = []
            for conversation, known in waiting.items():
                case = cases.get(conversation)
                if case is None:
                    continue
                newest = case.incident if case.incident and case.incident.key == known.key else known
                if not meant(newest):
                    continue
                done = transition(newest, event, now, self._paging.policy)
                if done.incident == newest and not done.effects:
                    continue
                happened = Happened(done.incident, done.reason, done.effects, now)
                partition = partitions.get(conversation, NOWHERE)
                results.append((self._advanced(case, event, happened), partition))
            alike = await count_alike(self._store, [advanced for advanced, _ in results], now)
            try:
                await self._store.commit(decided(results, self._paging, alike, by))
            except CaseConflict as conflict:
                gone = conflict.conversations & waiting.keys()
                left += [waiting.pop(conversation).key for conversation in gone]
                if not gone:
                    raise
                continue
            self._written()
            break
        return left

    def _advanced(
        self, case: Case, event: Acknowledged | Resolved | Reviewed, happened: Happened
    ) -> Advanced:
        """A deed lets no time pass: deadlines are the timers' to decide, who know the source's progress."""
        try:
            return self._follows(case, event, happened)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the case, what a person did stands
            anew = instead_of(case, error, happened.at, self._paging.policy)
            return self._follows(anew, event, happened)

    def _follows(self, case: Case, event: Acknowledged | Resolved | Reviewed, happened: Happened) -> Advanced:
        moment = Moment(happened.at, None, caught_up=False)
        if case.incident is not None and case.incident.key == happened.incident.key:
            return put(case, event, moment, self._paging.policy)
        rest = advance(case, moment, self._paging.policy)
        return replace(rest, happened=(happened, *rest.happened))
