"""Incidents by key. A case guards its own, so the newest write stands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from alerts.case import ordinal_of, stand_in
from alerts.incident import TICKET, Incident, State
from detectors.finding import Level
from monitor.errors import RowDamaged, StoreError
from monitor.store import codec
from monitor.store.dialect import insert
from monitor.store.schema import OPEN, audit, cases, incidents
from monitor.store.updates import alerts_of

Place = tuple[datetime, str]
"""When an incident was opened, and its key: the order in which all of them are looked at."""


def rows_of(written: Sequence[Incident]) -> list[dict[str, Any]]:
    newest = {incident.key: incident for incident in written}
    return [
        {
            "key": key,
            "conversation": incident.conversation,
            "opened_at": incident.opened_at,
            "over": incident.state.over,
            "release": incident.release,
            "body": codec.INCIDENTS.encode(incident),
        }
        for key, incident in sorted(newest.items())
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    statement = insert(connection, incidents)
    new = statement.excluded
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[incidents.c.key],
            set_={"over": new.over, "release": new.release, "body": new.body},
        ),
        rows,
    )


def read(connection: Connection, key: str) -> Incident | None:
    row = connection.execute(select(incidents).where(incidents.c.key == key)).first()
    return None if row is None else read_row(connection, row)


def read_row(connection: Connection, row: Any) -> Incident:
    """Raise StoreError for one of a release more than one ahead: whoever acts on it must not guess."""
    try:
        return codec.INCIDENTS.decode(row.body)
    except RowDamaged:
        return instead_of(connection, row)


def newest(connection: Connection, *, open_only: bool, limit: int) -> list[Incident]:
    """For people to see: one that cannot be read stands there as far as it can be told of, and takes no other with it."""
    query = select(incidents).order_by(incidents.c.opened_at.desc(), incidents.c.key.desc())
    if open_only:
        query = query.where(OPEN)
    return [_shown(connection, row) for row in connection.execute(query.limit(limit)).all()]


def _shown(connection: Connection, row: Any) -> Incident:
    try:
        return codec.INCIDENTS.decode(row.body)
    except StoreError:  # also one of a later release
        stands = instead_of(connection, row)
    if not stands.unreadable or row.over:
        return stands
    last = select(audit.c.state).where(audit.c.incident == row.key).order_by(audit.c.id.desc()).limit(1)
    with suppress(ValueError):  # nobody is told that it is in hand where the trail says otherwise
        return replace(stands, state=State(connection.scalar(last) or ""))
    return stands


def on_from(query: Select[Any], after: Place | None) -> Select[Any]:
    """``query`` of incidents from a place on, the oldest first."""
    at, key = incidents.c.opened_at, incidents.c.key
    if after is not None:
        query = query.where(at >= after[0], (at > after[0]) | (key > after[1]))  # a range, then what of it
    return query.order_by(at, key)


def newest_of(connection: Connection, conversation: str) -> Incident | None:
    """The one with the highest count: it must go on from there, or the next page would be taken for a known one."""
    query = select(incidents).where(incidents.c.conversation == conversation)
    found = [_read(row) for row in connection.execute(query)]
    return max(found, key=lambda incident: incident.ordinal, default=None)


def _read(row: Any) -> Incident:
    try:
        return codec.INCIDENTS.decode(row.body)
    except RowDamaged:
        return stand_in(row.conversation, ordinal_of(row.key), row.opened_at, row.release, over=row.over)


def instead_of(connection: Connection, row: Any) -> Incident:
    """What stands for one that is damaged: as its case has it, else as the rows beside it tell.

    One that its case has left behind rings for nobody, but may stand open at a pager, until somebody closes it there.
    """
    body = connection.scalar(select(cases.c.body).where(cases.c.conversation == row.conversation))
    with suppress(StoreError):
        newest = None if body is None else codec.CASES.decode(body).incident
        if newest is not None and newest.key == row.key:
            return newest
    alerts = alerts_of(connection, row.key)
    rises = sorted(int(alert[1:]) for alert in alerts if alert.startswith("r"))
    return Incident(
        key=row.key,
        conversation=row.conversation,
        ordinal=ordinal_of(row.key),
        opened_at=row.opened_at,
        last_crisis_at=row.opened_at,
        state=State.CLOSED if row.over else State.ACKNOWLEDGED,
        level=Level.UNSCORED,
        rung=(1, *rises) if alerts - {TICKET} else (),
        ticketed_at=row.opened_at if TICKET in alerts else None,
        release=row.release,
        unreadable=True,
    )


def alike(connection: Connection, release: str, since: datetime) -> int:
    query = (
        select(func.count())
        .select_from(incidents)
        .where(incidents.c.release == release, incidents.c.opened_at >= since)
    )
    return connection.scalar(query) or 0
