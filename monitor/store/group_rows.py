"""Rows of groups as they can be read. What stands for a damaged one: its columns, its own pages, and whom it told of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy import Connection, func, select

from alerts.group import Group
from alerts.lost_group import Remains, stand_in
from alerts.ports import Notification
from monitor.errors import RowDamaged, StoreError
from monitor.store import codec
from monitor.store.schema import outbox

_log = structlog.get_logger(__name__)


def readable(rows: Iterable[Any], read: Callable[[Any], Group]) -> Iterator[Group]:
    """One that cannot be read holds up neither the others nor any page: what it told of rings by itself, or in another.

    One of a later release keeps its lease and comes again after it, for a worker that can read it.
    """
    unreadable = 0
    for row in rows:
        try:
            yield read(row)
        except StoreError:
            unreadable += 1
    if unreadable:
        _log.error("groups_unreadable", groups=unreadable)


def read_row(row: Any) -> Group:
    return replace(codec.GROUPS.decode(row.body), version=row.version, look_at=row.due_at)


def stands(connection: Connection, row: Any) -> Group:
    """It, or what stands for one that is damaged. ``row``: with all its columns."""
    try:
        return read_row(row)
    except RowDamaged:
        return _instead_of(connection, row)


def _instead_of(connection: Connection, row: Any) -> Group:
    rows, whole = _rows(connection, row.key)
    told = select(func.count(outbox.c.incident.distinct())).where(outbox.c.told_by == row.key)
    return stand_in(
        Remains(
            key=row.key,
            scope=row.scope,
            track=row.track,
            ringing=row.ringing,
            opened_at=row.opened_at,
            look_at=row.due_at,
            version=row.version,
            rows=rows,
            whole=whole,
            members=connection.scalar(told) or 0,
        )
    )


def _rows(connection: Connection, key: str) -> tuple[list[Notification], bool]:
    """Its own, and whether all of them could be read."""
    query = select(outbox.c.id, outbox.c.page, outbox.c.delivery, outbox.c.created_at)
    found: list[Notification] = []
    whole = True
    for row in connection.execute(query.where(outbox.c.incident == key).order_by(outbox.c.id)):
        try:
            page, delivery = codec.PAGES.decode(row.page), codec.DELIVERIES.decode(row.delivery)
        except StoreError:
            whole = False
        else:
            found.append(Notification(row.id, page, delivery, row.created_at))
    return found, whole
