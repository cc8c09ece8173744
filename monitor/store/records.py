"""What an auditor reads and puts right: bounded queries, a page of incidents at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, bindparam, exists, func, not_, or_, select, update

from alerts.gaps import OnRecord, Trace
from alerts.incident import Incident
from alerts.ports import Notification
from monitor.crypto.keyring import Keyring
from monitor.errors import CaseConflict, StoreError
from monitor.store import audit as trail
from monitor.store import cases as case_rows
from monitor.store import codec
from monitor.store import incidents as incident_rows
from monitor.store import outbox as outbox_rows
from monitor.store.database import Database
from monitor.store.incidents import Place
from monitor.store.schema import OPEN, audit, cases, findings, incidents, outbox
from monitor.store.work import AuditRow, CaseWrite

T = TypeVar("T")
_AT_ONCE = 1_000  # values in one statement: both databases take far more
_AFTER_HEX = "g"  # the sign behind every one of a pseudonym


@dataclass(slots=True)
class Mending:
    """All that one look writes, in one transaction, collected.

    ``wakes``: when to wake which conversation; ``versions``: of the cases that this was decided on.
    """

    calls: list[Notification] = field(default_factory=list)
    audit: list[AuditRow] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    cases: dict[str, CaseWrite] = field(default_factory=dict)
    wakes: dict[str, datetime] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    due: list[str] = field(default_factory=list)

    def add_case(self, write: CaseWrite) -> None:
        """Of two incidents of one conversation, the case is at the later."""
        key = write.case.conversation.key
        other = self.cases.get(key)
        if other is None or _ordinal(other) < _ordinal(write):
            self.cases[key] = write


def _ordinal(write: CaseWrite) -> int:
    return write.case.incident.ordinal if write.case.incident else 0


class Records:
    """The auditor's way to the tables. Errors are the store's."""

    def __init__(self, database: Database, keyring: Keyring) -> None:
        self._database = database
        self._keyring = keyring

    async def begin(self, since: datetime) -> int:
        """The place in the trail where ``since`` begins; 0 if nothing is younger."""
        # Of a sum, so that it is looked for among what is younger: for the least id itself both read all that is older.
        query = select(func.min(audit.c.id + 0)).where(audit.c.at >= since)
        return await self._database.read(lambda c: (c.scalar(query) or 1) - 1)

    async def told_of(self, after: int, limit: int) -> tuple[int, list[str]]:
        """Incidents in the next ``limit`` steps of the trail after a place, and the place reached."""
        query = select(audit.c.id, audit.c.incident).where(audit.c.id > after).order_by(audit.c.id)
        rows = await self._database.read(lambda c: c.execute(query.limit(limit)).all())
        return (rows[-1].id if rows else after), list(dict.fromkeys(row.incident for row in rows))

    async def open(self, after: Place | None, limit: int) -> tuple[Place | None, list[str]]:
        """Open incidents, the oldest first, after a place; and the place reached, None at the end."""
        opened = select(incidents.c.opened_at, incidents.c.key).where(OPEN)
        query = incident_rows.on_from(opened, after).limit(limit)
        rows = await self._database.read(lambda c: c.execute(query).all())
        reached = (rows[-1].opened_at, rows[-1].key) if len(rows) == limit else None
        return reached, [row.key for row in rows]

    async def strays(self, since: datetime, limit: int) -> list[str]:
        """Incidents that findings tell of and that are not there."""
        there = exists().where(incidents.c.key == findings.c.incident)
        query = (
            select(findings.c.incident)
            .where(findings.c.at >= since, findings.c.incident.is_not(None), not_(there))
            .distinct()
            .limit(limit)
        )
        return await self._database.read(lambda c: list(c.scalars(query)))

    async def load(self, keys: Collection[str], since: datetime) -> list[OnRecord]:
        """Everything on record of these incidents, the trail since ``since`` and its last step."""
        wanted = sorted(set(keys))
        return await self._database.read(lambda c: list(_load(c, wanted, since)))

    async def mend(self, mending: Mending) -> None:
        """Raise CaseConflict, and write nothing, if a case was written since it was read."""
        await self._database.write(lambda c: _mend(c, mending, self._keyring))


def _load(connection: Connection, keys: Sequence[str], since: datetime) -> Iterator[OnRecord]:
    bodies = {
        row.key: row
        for row in _in(
            connection,
            select(incidents.c.key, incidents.c.conversation, incidents.c.body),
            incidents.c.key,
            keys,
        )
    }
    conversations = {key: row.conversation for key, row in bodies.items()}
    for key in keys:
        if key not in conversations and (found := _conversation_of(connection, key)):
            conversations[key] = found
    kept = {
        row.conversation: row
        for row in _in(
            connection,
            select(cases.c.conversation, cases.c.body, cases.c.wake_at),
            cases.c.conversation,
            sorted(set(conversations.values())),
        )
    }
    steps = _trails(connection, keys, since)
    told = sorted({row for key in keys for step in steps[key] for row in step.told})
    rows = {
        row.id: row
        for row in _in(connection, select(outbox.c.id, outbox.c.due_at, outbox.c.delivery), outbox.c.id, told)
    }
    for key in keys:
        body, case = bodies.get(key), kept.get(conversations.get(key, ""))
        mine = {row for step in steps[key] for row in step.told if row in rows}
        try:
            yield OnRecord(
                key,
                codec.INCIDENTS.decode(body.body) if body else None,
                codec.CASES.decode(case.body) if case else None,
                case.wake_at if case else None,
                tuple(steps[key]),
                {row: _moves(rows[row]) for row in sorted(mine)},
            )
        except StoreError:
            yield OnRecord(key, None, None, None, tuple(steps[key]), {}, readable=False)


def _trails(connection: Connection, keys: Sequence[str], since: datetime) -> dict[str, list[Trace]]:
    last = select(func.max(audit.c.id)).where(audit.c.incident.in_(bindparam("of", expanding=True)))
    query = (
        select(audit.c.id, audit.c.incident, audit.c.state, audit.c.detail)
        .where(audit.c.incident.in_(bindparam("of", expanding=True)))
        .where(or_(audit.c.at >= since, audit.c.id.in_(last.group_by(audit.c.incident))))
        .order_by(audit.c.id)
    )
    found: dict[str, list[Trace]] = defaultdict(list)
    for part in _parts(keys):
        for row in connection.execute(query, {"of": part}):
            found[row.incident].append(_trace(row.id, row.state, codec.facts(row.detail)))
    return found


def _trace(place: int, state: str, facts: Mapping[str, Any]) -> Trace:
    gap = facts.get("gap")
    told, lost = _ids(facts.get("told")), _ids(facts.get("lost"))
    return Trace(state, told, lost, None if gap is None else str(gap), place)


def _ids(found: Any) -> tuple[str, ...]:
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _moves(row: Any) -> bool:
    """Final, or some relay will take it."""
    return row.due_at is not None or codec.DELIVERIES.decode(row.delivery).state.final


def _conversation_of(connection: Connection, key: str) -> str | None:
    """Whose incident this is, by the part of the pseudonym in its key (``alerts.case.incident_key``)."""
    part = key.removeprefix("jz-").rpartition("-")[0]
    if not part:
        return None
    query = select(cases.c.conversation).where(
        cases.c.conversation >= part, cases.c.conversation < part + _AFTER_HEX
    )
    found: str | None = connection.scalar(query.limit(1))
    return found


def _mend(connection: Connection, mending: Mending, keyring: Keyring) -> None:
    versions = mending.versions
    query = select(cases.c.conversation, cases.c.version).order_by(cases.c.conversation).with_for_update()
    held = {
        row.conversation: row.version
        for row in _in(connection, query, cases.c.conversation, sorted(versions))
    }
    stale = {key for key, version in versions.items() if held.get(key) != version}
    if stale:
        raise CaseConflict(frozenset(stale))
    for conversation, at in sorted(mending.wakes.items()):
        connection.execute(update(cases).where(cases.c.conversation == conversation).values(wake_at=at))
    if mending.cases:
        case_rows.write(connection, case_rows.rows_of(list(mending.cases.values()), keyring))
    if mending.incidents:
        incident_rows.write(connection, incident_rows.rows_of(mending.incidents))
    for part in _parts(sorted(mending.due)):
        stuck = outbox.c.id.in_(part) & outbox.c.due_at.is_(None)
        connection.execute(update(outbox).where(stuck).values(due_at=outbox.c.created_at))
    if mending.calls:
        outbox_rows.write(connection, outbox_rows.rows_of(mending.calls))
    if mending.audit:
        trail.write(connection, trail.rows_of(mending.audit))


def _in(connection: Connection, query: Select[Any], column: Any, values: Sequence[str]) -> Iterator[Any]:
    for part in _parts(values):
        yield from connection.execute(query.where(column.in_(part)))


def _parts(values: Sequence[T]) -> Iterable[Sequence[T]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
