"""The store in memory: for tests, for replay, and for the time the database is away. Same contract, nothing kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.canary import Canary, canary_of, is_canary
from alerts.case import Case
from alerts.group import Group
from alerts.incident import Incident
from alerts.memory_outbox import MemoryOutbox
from alerts.ports import Notification
from monitor.baselines import Baseline
from monitor.errors import CaseConflict, GroupConflict, PositionConflict
from monitor.store.streaming import without_pieces
from monitor.store.work import (
    Advance,
    AuditRow,
    CaseWrite,
    DeadLetter,
    Excerpt,
    FindingRow,
    Partition,
    Wake,
    Work,
)
from monitor.tally.codec import tally_of_json, tally_to_json


class MemoryStore(MemoryOutbox):
    """Implements ``Store`` and ``Baselines``. Nothing in ``commit`` waits, so that nobody sees half of it."""

    def __init__(self) -> None:
        super().__init__()
        self._positions: dict[Partition, int] = {}
        self._cases: dict[str, CaseWrite] = {}
        self._incidents: dict[str, Incident] = {}
        self._findings: dict[str, FindingRow] = {}
        self._audit: list[AuditRow] = []
        self._excerpts: dict[tuple[str, str], Excerpt] = {}
        self._dead_letters: dict[tuple[Partition, int], DeadLetter] = {}
        self.tallies: dict[int, str] = {}  # the queue, by id
        self._tallied = 0
        self._baselines: dict[str, Baseline] = {}

    async def commit(self, work: Work) -> None:
        self._check_positions(work.advances)
        self._check_cases(work.cases)
        self._check_groups(work.groups)
        for advance in work.advances:
            self._positions[advance.partition] = advance.next
        for write in work.cases:
            written = replace(write.case, version=write.case.version + 1)
            self._cases[written.conversation.key] = replace(write, case=written)
        self._incidents |= {incident.key: incident for incident in work.incidents}
        for group in work.groups:
            self._put_group(group)
        self.withdraw(work.withdrawals)
        self.add(work.notifications)
        for finding in work.findings:
            self._findings.setdefault(finding.id, finding)
        self._audit += work.audit
        for excerpt in work.excerpts:
            self._excerpts.setdefault((excerpt.incident, excerpt.event), excerpt)
        for letter in work.dead_letters:
            self._dead_letters.setdefault((letter.partition, letter.offset), letter)
        if work.tally:
            self._tallied += 1
            self.tallies[self._tallied] = tally_to_json(work.tally)
        gone = set(work.purges)
        if gone:
            self._excerpts = {key: row for key, row in self._excerpts.items() if row.incident not in gone}

    def notifications(self) -> tuple[Notification, ...]:
        """The whole outbox, the accepted included, oldest first."""
        return self.rows()

    def findings(self) -> tuple[FindingRow, ...]:
        return tuple(self._findings.values())

    def dead_letters(self) -> tuple[DeadLetter, ...]:
        return tuple(self._dead_letters.values())

    async def positions(self, partitions: Collection[Partition]) -> dict[Partition, int]:
        return {key: self._positions[key] for key in partitions if key in self._positions}

    async def cases(self, conversations: Collection[str]) -> dict[str, Case]:
        return {key: self._cases[key].case for key in conversations if key in self._cases}

    async def due(self, now: datetime, limit: int) -> Sequence[Wake]:
        wakes = [wake for wake in self._wakes() if wake.at <= now]
        return sorted(wakes, key=lambda wake: wake.at)[:limit]

    async def next_wake(self) -> datetime | None:
        return min((wake.at for wake in self._wakes()), default=None)

    async def partition_of(self, conversation: str) -> Partition | None:
        write = self._cases.get(conversation)
        return write.partition if write else None

    async def partitions_of(self, conversations: Collection[str]) -> dict[str, Partition]:
        return {key: self._cases[key].partition for key in conversations if key in self._cases}

    async def incident(self, key: str) -> Incident | None:
        return self._incidents.get(key)

    async def incidents(self, *, open_only: bool, limit: int) -> Sequence[Incident]:
        found = [one for one in self._incidents.values() if not (open_only and one.state.over)]
        return sorted(found, key=lambda one: (one.opened_at, one.key), reverse=True)[:limit]

    async def alike(self, release: str, since: datetime) -> int:
        return sum(one.release == release and one.opened_at >= since for one in self._incidents.values())

    async def group(self, key: str) -> Group | None:
        return self._grouped.group(key)

    async def members(
        self, group: str, *, after: str = "", skip: int = 0, limit: int, open_only: bool = False
    ) -> Sequence[Incident]:
        known = [key for key in self._grouped.members(group) if key in self._incidents and key > after]
        found = [self._incidents[key] for key in sorted(known)]
        return [one for one in found if not (open_only and one.state.over)][skip : skip + limit]

    async def due_groups(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Group]:
        found = [one for one in self._grouped.groups() if one.look_at is not None and one.look_at <= now]
        taken = [replace(one, look_at=now + lease) for one in found[:limit]]
        for group in taken:
            self._grouped.put(group)
        return taken

    async def timeline(self, incident: str) -> Sequence[AuditRow]:
        return [row for row in self._audit if row.incident == incident]

    async def excerpts(self, incident: str) -> Sequence[Excerpt]:
        found = [row for row in self._excerpts.values() if row.incident == incident]
        return sorted(found, key=lambda row: (row.at, row.event))

    async def expire(self, before: datetime) -> int:
        old = [key for key, body in self.tallies.items() if tally_of_json(body).hour < before]
        for key in old:
            del self.tallies[key]
        count = len(self._excerpts) + len(self._dead_letters)
        self._excerpts = {key: row for key, row in self._excerpts.items() if row.at >= before}
        self._dead_letters = {key: row for key, row in self._dead_letters.items() if row.at >= before}
        return count - len(self._excerpts) - len(self._dead_letters)

    async def expire_pieces(self, before: datetime, partitions: Collection[Partition] | None = None) -> int:
        old = [
            write
            for write in self._cases.values()
            if any(entry.pieces for entry in write.case.conversation.entries)
            and max(entry.received for entry in write.case.conversation.entries) < before
            and (partitions is None or write.partition in partitions)
        ]
        for write in old:
            self._cases[write.case.conversation.key] = replace(write, case=without_pieces(write.case))
        return len(old)

    async def accepted(self, ids: Collection[str]) -> dict[str, datetime]:
        found = {row.id: row.delivery.accepted_at for row in self.rows() if row.id in ids}
        return {name: at for name, at in found.items() if at is not None}

    async def newest_canaries(self) -> Sequence[Canary]:
        done = [row for row in self.rows() if row.delivery.accepted_at is not None]
        found = sorted(canary for row in done if (canary := canary_of(row.page.incident)) is not None)
        return list({canary.partition: canary for canary in found}.values())

    async def sweep_canaries(self, before: Canary, keep: Collection[Canary] = ()) -> None:
        for row in self.rows():
            canary = canary_of(row.page.incident)
            if canary is not None and canary < before and canary not in keep:
                self.forget(row.id)
        self._cases = {
            key: write
            for key, write in self._cases.items()
            if not is_canary(key) or key >= before.conversation
        }

    async def ping(self) -> timedelta:
        return timedelta(0)

    async def probe(self, now: datetime) -> None:
        """Memory takes what it is given."""

    async def pin_baseline(self, baseline: Baseline) -> bool:
        return self._baselines.setdefault(baseline.name, baseline) is baseline

    async def baselines(self) -> list[Baseline]:
        return sorted(self._baselines.values(), key=lambda one: (one.pinned_at, one.name), reverse=True)

    async def close(self) -> None:
        """Nothing is open."""

    def _check_positions(self, advances: Sequence[Advance]) -> None:
        late = {a.partition for a in advances if self._positions.get(a.partition, 0) != a.expected}
        if late:
            raise PositionConflict(frozenset(late))

    def _check_cases(self, writes: Sequence[CaseWrite]) -> None:
        keys = [write.case.conversation.key for write in writes]
        stale = {
            key for key, write in zip(keys, writes, strict=True) if self._version(write) != write.case.version
        }
        if stale or len(set(keys)) < len(keys):
            raise CaseConflict(frozenset(stale or keys))

    def _version(self, write: CaseWrite) -> int:
        """The version of a case that stands; 0 if there is none."""
        standing = self._cases.get(write.case.conversation.key)
        return standing.case.version if standing else 0

    def _check_groups(self, groups: Sequence[Group]) -> None:
        for group in groups:
            known = self._grouped.group(group.key)
            if group.version and (known is None or known.version != group.version):
                raise GroupConflict

    def _put_group(self, group: Group) -> None:
        if group.version or self._grouped.group(group.key) is None:
            self._grouped.put(replace(group, version=group.version + 1))

    def _wakes(self) -> list[Wake]:
        return [
            Wake(key, write.partition, write.wake_at)
            for key, write in self._cases.items()
            if write.wake_at is not None
        ]
