"""Incidents by key. A case guards its own, so the newest write stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, not_, select

from alerts.case import incident_key, ordinal_of
from alerts.incident import Incident, State
from detectors.finding import Level
from monitor.errors import RowDamaged
from monitor.store import codec
from monitor.store.dialect import insert
from monitor.store.schema import incidents


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
    body = connection.scalar(select(incidents.c.body).where(incidents.c.key == key))
    return None if body is None else codec.INCIDENTS.decode(body)


def newest(connection: Connection, *, open_only: bool, limit: int) -> list[Incident]:
    query = select(incidents.c.body).order_by(incidents.c.opened_at.desc(), incidents.c.key.desc())
    if open_only:
        query = query.where(not_(incidents.c.over))
    return [codec.INCIDENTS.decode(body) for body in connection.scalars(query.limit(limit))]


def newest_of(connection: Connection, conversation: str) -> Incident | None:
    """The one with the highest count: it must go on from there, or the next page would be taken for a known one."""
    query = select(incidents).where(incidents.c.conversation == conversation)
    found = [_read(row) for row in connection.execute(query)]
    return max(found, key=lambda incident: incident.ordinal, default=None)


def _read(row: Any) -> Incident:
    """For one that is damaged and may still be open another stands in: what it rang for would not ring again."""
    try:
        return codec.INCIDENTS.decode(row.body)
    except RowDamaged:
        ordinal = ordinal_of(row.key) + (not row.over)
        return Incident(
            key=incident_key(row.conversation, ordinal),
            conversation=row.conversation,
            ordinal=ordinal,
            opened_at=row.opened_at,
            last_crisis_at=row.opened_at,
            state=State.CLOSED if row.over else State.WATCHING,
            level=Level.UNSCORED,
            release=row.release,
        )


def alike(connection: Connection, release: str, since: datetime) -> int:
    query = (
        select(func.count())
        .select_from(incidents)
        .where(incidents.c.release == release, incidents.c.opened_at >= since)
    )
    return connection.scalar(query) or 0
