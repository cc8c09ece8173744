"""What is old enough to go: conversations that nobody was heard in, and rows older than records are kept."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, delete, exists, not_, select, update

from alerts.canary import CANARIES
from monitor.errors import RowDamaged, StoreError
from monitor.store import codec
from monitor.store import incidents as incident_rows
from monitor.store.deletion import AT_ONCE, BY_INCIDENT, Gone, delete_of
from monitor.store.incidents import Place
from monitor.store.schema import audit, cases, findings, groups, incidents, outbox

UNDATED = select(cases.c.conversation).where(cases.c.touched_at.is_(None)).limit(1)


def date(connection: Connection, now: datetime) -> None:
    """Cases written by a release that kept no time: their age counts from now."""
    fresh = select(cases.c.conversation).where(cases.c.touched_at.is_(None)).limit(AT_ONCE * 5)
    connection.execute(update(cases).where(cases.c.conversation.in_(fresh)).values(touched_at=now))


def quiet(before: datetime, passed: int) -> Select[Any]:
    """Conversations that nobody was heard in since, the oldest first; ``passed`` of them are passed over."""
    return (
        select(cases.c.conversation)
        .where(
            cases.c.touched_at < before,
            cases.c.wake_at.is_(None),
            not_(cases.c.conversation.startswith(CANARIES)),
        )
        .order_by(cases.c.touched_at, cases.c.conversation)
        .offset(passed)
        .limit(AT_ONCE)
    )


def age(connection: Connection, before: datetime, after: Place | None) -> tuple[Gone, Place | None]:
    """Closed incidents from ``after`` on, some at a time; return the place reached, None at the end.

    Those who stay are passed over: however many they are, whoever comes behind them goes.
    """
    counts: Counter[str] = Counter()
    some = connection.execute(_closed(before, after)).all()
    reached = (some[-1].opened_at, some[-1].key) if len(some) == AT_ONCE else None
    read = {row.key: _last_crisis(row) for row in some}
    old = [key for key, (last, _) in read.items() if last is not None and last < before]
    waiting = select(outbox.c.incident).where(outbox.c.incident.in_(old), outbox.c.due_at.is_not(None))
    keys = sorted(set(old) - set(connection.scalars(waiting)))
    counts["incidents"] = delete_of(connection, incidents.c.key, keys)
    for column in (*BY_INCIDENT, findings.c.incident):
        counts[str(column.table.name)] += delete_of(connection, column, keys)
    return Gone(counts, sum(not read[key][1] for key in keys)), reached


def age_rest(connection: Connection, before: datetime) -> Counter[str]:
    """What is old and hangs on no incident, some at a time."""
    counts: Counter[str] = Counter()
    counts["findings"] += _some(connection, findings, findings.c.id, findings.c.at < before)
    apart = not_(exists().where(incidents.c.key == outbox.c.incident))
    told = outbox.c.due_at.is_(None) & (outbox.c.created_at < before)
    counts["outbox"] += _some(connection, outbox, outbox.c.id, told & apart)
    over = groups.c.due_at.is_(None) & (groups.c.opened_at < before)
    counts["groups"] += _some(connection, groups, groups.c.key, over)
    apart = not_(exists().where(incidents.c.key == audit.c.incident))
    counts["audit"] += _some(connection, audit, audit.c.id, (audit.c.at < before) & apart)
    return counts


def _closed(before: datetime, after: Place | None) -> Select[Any]:
    at, key = incidents.c.opened_at, incidents.c.key
    query = select(key, at, incidents.c.body).where(incidents.c.over, at < before)
    return incident_rows.on_from(query, after).limit(AT_ONCE)


def _last_crisis(row: Any) -> tuple[datetime | None, bool]:
    """And whether it could be read. A damaged incident goes by when it was opened; one of a later release stays."""
    try:
        return codec.INCIDENTS.decode(row.body).last_crisis_at, True
    except RowDamaged:
        return row.opened_at, False
    except StoreError:
        return None, False


def _some(connection: Connection, table: Table, key: Column[Any], condition: Any) -> int:
    some = select(key).where(condition).limit(AT_ONCE * 5)
    return connection.execute(delete(table).where(key.in_(some))).rowcount
