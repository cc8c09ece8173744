"""The outbox: notifications until somebody has accepted them, and after that for the record.

``due_at`` alone decides who may take a row: a claim moves it to the end of the lease, an answer to the next
attempt, a final state takes it away. So claiming reads one small index, however many old rows there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from alerts.canary import Canary, canary_of
from alerts.delivery import WITHDRAWN, Delivery, State, abandoned
from alerts.page import Kind
from alerts.ports import Notification
from monitor.errors import StoreError
from monitor.store import codec
from monitor.store.dialect import insert_absent
from monitor.store.schema import outbox
from monitor.store.updates import as_told, is_update

_log = structlog.get_logger(__name__)

CANARIES = "jz-canary-"  # how their incidents' keys begin
_BEHIND_HEX = "g"


def rows_of(notifications: Sequence[Notification]) -> list[dict[str, Any]]:
    return [
        {
            "id": row.id,
            "incident": row.page.incident,
            "calm": row.page.kind is not Kind.PAGE,
            "created_at": row.created_at,
            "due_at": _due_at(row.delivery, row.created_at),
            "page": codec.PAGES.encode(row.page),
            "delivery": codec.DELIVERIES.encode(row.delivery),
            "told_by": row.told_by,
        }
        for row in sorted(notifications, key=lambda row: row.id)
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Pages first: an update goes where they went, though they are of the same transaction."""
    pages = [row for row in rows if not is_update(row["id"])]
    if pages:
        connection.execute(insert_absent(connection, outbox), pages)
    updates = [row for row in rows if is_update(row["id"])]
    if updates:
        connection.execute(insert_absent(connection, outbox), as_told(connection, updates))


def withdraw(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Abandon pages that nobody has accepted. One that is on its way may still arrive; its answer changes nothing.

    One that cannot be read is over, too: nobody needs it any more.
    """
    incidents = [row["incident"] for row in rows]
    waiting = outbox.c.incident.in_(incidents) & outbox.c.due_at.is_not(None) & ~outbox.c.calm
    found = select(outbox.c.id, outbox.c.delivery).where(waiting).order_by(outbox.c.id).with_for_update()
    for row in connection.execute(found).all():
        delivery = abandoned(codec.delivery_of(row.delivery) or Delivery(()), WITHDRAWN)
        values = {"delivery": codec.DELIVERIES.encode(delivery), "due_at": None}
        connection.execute(update(outbox).where(outbox.c.id == row.id).values(values))


def claim(connection: Connection, now: datetime, lease: timedelta, limit: int) -> list[Notification]:
    # The CTE is evaluated once; a bare subquery could be run again and lock more rows than the limit.
    free = (
        select(outbox.c.id, outbox.c.due_at)
        .where(outbox.c.due_at <= now)
        .order_by(outbox.c.calm, outbox.c.due_at, outbox.c.created_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("free")
    )
    statement = (
        update(outbox)
        .where(outbox.c.id.in_(select(free.c.id)))
        .values(due_at=now + lease)
        .returning(outbox.c.id, outbox.c.calm, outbox.c.created_at, outbox.c.page, outbox.c.delivery)
    )
    rows = [(row.calm, notification) for row, notification in _readable(connection.execute(statement))]
    rows.sort(key=lambda row: (row[0], row[1].delivery.next_at or row[1].created_at, row[1].created_at))
    return [notification for _, notification in rows]


def lend(connection: Connection, now: datetime, limit: int) -> list[Notification]:
    """What a claim would take, without taking it: while nothing can be written."""
    query = (
        select(outbox.c.id, outbox.c.created_at, outbox.c.page, outbox.c.delivery)
        .where(outbox.c.due_at <= now)
        .order_by(outbox.c.calm, outbox.c.due_at, outbox.c.created_at)
        .limit(limit)
    )
    return [notification for _, notification in _readable(connection.execute(query))]


def record(connection: Connection, notification_id: str, delivery: Delivery) -> None:
    values: dict[str, Any] = {"delivery": codec.DELIVERIES.encode(delivery)}
    if delivery.state is State.RETRYING and delivery.next_at is not None:
        values["due_at"] = delivery.next_at
    elif delivery.state.final:
        values["due_at"] = None
    elif delivery.state is not State.SENDING:  # while a request is on its way, the lease goes on
        values["due_at"] = outbox.c.created_at
    open_row = (outbox.c.id == notification_id) & outbox.c.due_at.is_not(None)
    connection.execute(update(outbox).where(open_row).values(values))


def oldest(connection: Connection, now: datetime) -> timedelta:
    created: datetime | None = connection.scalar(
        select(func.min(outbox.c.created_at)).where(
            outbox.c.due_at.is_not(None), ~outbox.c.incident.startswith(CANARIES)
        )
    )
    return timedelta(0) if created is None else now - created


def _readable(rows: Iterable[Any]) -> Iterator[tuple[Any, Notification]]:
    """Rows and what they say. One that cannot be read must not hold up the others.

    It keeps its lease and comes again after it, for a worker that can read it, and grows old in ``oldest``.
    """
    unreadable = 0
    for row in rows:
        try:
            page, delivery = codec.PAGES.decode(row.page), codec.DELIVERIES.decode(row.delivery)
        except StoreError:
            unreadable += 1
        else:
            yield row, Notification(row.id, page, delivery, row.created_at)
    if unreadable:
        _log.error("outbox_rows_unreadable", rows=unreadable)


def accepted(connection: Connection, ids: Collection[str]) -> dict[str, datetime]:
    """When, for those rows that somebody has accepted."""
    query = select(outbox.c.id, outbox.c.delivery).where(outbox.c.id.in_(ids), outbox.c.due_at.is_(None))
    found = {row.id: codec.delivery_of(row.delivery) for row in connection.execute(query)}
    return {name: one.accepted_at for name, one in found.items() if one and one.accepted_at is not None}


def newest_canaries(connection: Connection) -> list[Canary]:
    done = _of_canaries() & outbox.c.due_at.is_(None)
    query = select(outbox.c.incident, outbox.c.delivery).where(done).order_by(outbox.c.incident.desc())
    newest: dict[int, Canary] = {}
    for row in connection.execute(query):
        canary = canary_of(row.incident)
        if canary is None or canary.partition in newest:
            continue
        delivery = codec.delivery_of(row.delivery)
        if delivery is not None and delivery.accepted_at is not None:
            newest[canary.partition] = canary
    return list(newest.values())


def sweep_canaries(connection: Connection, before: Canary, keep: Collection[Canary]) -> None:
    old = _of_canaries() & (outbox.c.incident < before.incident)
    kept = [canary.notification for canary in keep]
    connection.execute(delete(outbox).where(old, outbox.c.id.not_in(kept)))


def _of_canaries() -> ColumnElement[bool]:
    """A range as well, for an index: LIKE alone is none on SQLite, nor in most collations of PostgreSQL."""
    ours = outbox.c.incident
    return (ours >= CANARIES) & (ours < f"{CANARIES}{_BEHIND_HEX}") & ours.startswith(CANARIES)


def _due_at(delivery: Delivery, created_at: datetime) -> datetime | None:
    if delivery.state.final:
        return None
    if delivery.state is State.RETRYING and delivery.next_at is not None:
        return delivery.next_at
    return created_at
