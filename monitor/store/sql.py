"""The store in a database: one repository a noun, put together."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import SecretStr
from sqlalchemy import Connection, text

from alerts.canary import Canary
from alerts.case import Case
from alerts.delivery import Delivery
from alerts.group import Group
from alerts.incident import Incident
from alerts.ports import Decide, Notification
from alerts.storm import Admitted
from monitor.baselines import Baseline
from monitor.crypto.keyring import Keyring
from monitor.errors import StoreUnwritable
from monitor.store import (
    audit,
    baselines,
    cases,
    dead_letters,
    excerpts,
    findings,
    groups,
    incidents,
    outbox,
    positions,
    probe,
    shared_time,
    tallies,
)
from monitor.store.database import TIME_LIMIT, Database
from monitor.store.shared_time import Agreed, Told
from monitor.store.url import parse
from monitor.store.work import AuditRow, Excerpt, Partition, Wake, Work

Rows = list[dict[str, Any]]
Step = Callable[[Connection, Rows], None]


class SqlStore:
    """Implements ``Store`` and ``Baselines`` on SQLite and PostgreSQL. The tables must be there: see ``monitor.store.migration``."""

    def __init__(self, url: str | SecretStr, keyring: Keyring, time_limit: timedelta = TIME_LIMIT) -> None:
        self._database = Database(parse(url), time_limit)
        self._keyring = keyring
        self._lent: dict[str, datetime] = {}  # rows handed out though nothing can be written, until when

    @property
    def database(self) -> Database:
        """For what only a database has: auditing, erasing, sealing anew."""
        return self._database

    async def commit(self, work: Work) -> None:
        steps = self._steps(work)
        advances = work.advances

        def transaction(connection: Connection) -> None:
            # Everybody locks in this order, and within a step by key, so that no two can wait for each other.
            if advances:
                positions.advance(connection, advances)
            for write, rows in steps:
                if rows:
                    write(connection, rows)
            if work.purges:
                excerpts.purge(connection, work.purges)

        await self._database.write(transaction)

    async def positions(self, partitions: Collection[Partition]) -> dict[Partition, int]:
        if not partitions:
            return {}
        return await self._database.read(lambda c: positions.read(c, partitions))

    async def cases(self, conversations: Collection[str]) -> dict[str, Case]:
        if not conversations:
            return {}
        found = await self._database.read(lambda c: cases.read(c, conversations, self._keyring))
        return {case.conversation.key: case for case in found}

    async def due(self, now: datetime, limit: int) -> Sequence[Wake]:
        return await self._database.read(lambda c: cases.due(c, now, limit))

    async def next_wake(self) -> datetime | None:
        return await self._database.read(cases.next_wake)

    async def partition_of(self, conversation: str) -> Partition | None:
        return await self._database.read(lambda c: cases.partition_of(c, conversation))

    async def partitions_of(self, conversations: Collection[str]) -> dict[str, Partition]:
        return await self._database.read(lambda c: cases.partitions_of(c, conversations))

    async def incident(self, key: str) -> Incident | None:
        return await self._database.read(lambda c: incidents.read(c, key))

    async def incidents(self, *, open_only: bool, limit: int) -> Sequence[Incident]:
        return await self._database.read(lambda c: incidents.newest(c, open_only=open_only, limit=limit))

    async def alike(self, release: str, since: datetime) -> int:
        return await self._database.read(lambda c: incidents.alike(c, release, since))

    async def group(self, key: str) -> Group | None:
        return await self._database.read(lambda c: groups.read(c, key))

    async def members(
        self, group: str, *, after: str = "", skip: int = 0, limit: int, open_only: bool = False
    ) -> Sequence[Incident]:
        return await self._database.read(
            lambda c: groups.members(c, group, after=after, skip=skip, limit=limit, open_only=open_only)
        )

    async def due_groups(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Group]:
        return await self._database.write(lambda c: groups.due(c, now, lease, limit))

    async def timeline(self, incident: str) -> Sequence[AuditRow]:
        return await self._database.read(lambda c: audit.timeline(c, incident))

    async def excerpts(self, incident: str) -> Sequence[Excerpt]:
        return await self._database.read(lambda c: excerpts.read(c, incident, self._keyring))

    async def expire(self, before: datetime) -> int:
        def transaction(connection: Connection) -> int:
            tallies.expire(connection, before)
            gone = excerpts.expire(connection, before)
            return gone + dead_letters.expire(connection, before)

        return await self._database.write(transaction)

    async def expire_pieces(self, before: datetime, partitions: Collection[Partition] | None = None) -> int:
        return await self._database.write(lambda c: cases.expire_pieces(c, before, partitions))

    async def claim(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Notification]:
        """While the disk is full, rows are lent: this process has them once a lease, and so has any other."""
        try:
            return await self._database.write(lambda c: outbox.claim(c, now, lease, limit))
        except StoreUnwritable:
            self._lent = {key: until for key, until in self._lent.items() if until > now}
            most = limit + len(self._lent)  # those that are lent come first again
            rows = await self._database.read(lambda c: outbox.lend(c, now, most))
            free = [row for row in rows if row.id not in self._lent][:limit]
            self._lent |= {row.id: now + lease for row in free}
            return free

    async def admit(self, rows: Sequence[Notification], now: datetime, decide: Decide) -> Admitted:
        return await self._database.write(lambda c: groups.admit(c, rows, now, decide))

    async def record(self, notification_id: str, delivery: Delivery) -> None:
        await self._database.write(lambda c: outbox.record(c, notification_id, delivery))

    async def oldest(self, now: datetime) -> timedelta:
        return await self._database.read(lambda c: outbox.oldest(c, now))

    async def accepted(self, ids: Collection[str]) -> dict[str, datetime]:
        return await self._database.read(lambda c: outbox.accepted(c, ids)) if ids else {}

    async def newest_canaries(self) -> Sequence[Canary]:
        return await self._database.read(outbox.newest_canaries)

    async def sweep_canaries(self, before: Canary, keep: Collection[Canary] = ()) -> None:
        def transaction(connection: Connection) -> None:
            cases.sweep_canaries(connection, before)
            outbox.sweep_canaries(connection, before, keep)

        await self._database.write(transaction)

    async def ping(self) -> timedelta:
        started = time.perf_counter()
        await self._database.read(lambda c: c.execute(text("SELECT 1")))
        return timedelta(seconds=time.perf_counter() - started)

    async def probe(self, now: datetime) -> None:
        await self._database.write(lambda c: probe.write(c, now))

    async def time(self) -> Told | None:
        """The database server's, and the workers'; None on SQLite, which is on this machine."""
        return await self._database.read(shared_time.read)

    async def agree(self, before: Agreed | None, after: Agreed) -> bool:
        """Write the workers' time if it still is what was read."""
        return await self._database.write(lambda c: shared_time.agree(c, before, after))

    async def pin_baseline(self, baseline: Baseline) -> bool:
        return await self._database.write(lambda c: baselines.write(c, baseline))

    async def baselines(self) -> list[Baseline]:
        return await self._database.read(baselines.read)

    async def close(self) -> None:
        await self._database.close()

    def _steps(self, work: Work) -> list[tuple[Step, Rows]]:
        """Encoded and sealed before the transaction begins, so that it is short."""
        return [
            (cases.write, cases.rows_of(work.cases, self._keyring)),
            (incidents.write, incidents.rows_of(work.incidents)),
            (groups.write, groups.rows_of(work.groups)),
            (outbox.withdraw, [{"incident": key} for key in sorted(work.withdrawals)]),
            (outbox.write, outbox.rows_of(work.notifications)),
            (findings.write, findings.rows_of(work.findings)),
            (audit.write, audit.rows_of(work.audit)),
            (excerpts.write, excerpts.rows_of(work.excerpts, self._keyring)),
            (dead_letters.write, dead_letters.rows_of(work.dead_letters, self._keyring)),
            (tallies.write, tallies.rows_of(work.tally)),
        ]
