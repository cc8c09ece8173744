"""The audit: what happened to an incident, only ever added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from monitor.store import codec
from monitor.store.schema import audit
from monitor.store.work import AuditRow


def rows_of(written: Sequence[AuditRow]) -> list[dict[str, Any]]:
    return [
        {
            "incident": row.incident,
            "at": row.at,
            "reason": row.reason,
            "actor": row.actor,
            "state": row.state,
            "detail": codec.dumps(dict(row.detail)),
        }
        for row in written
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(insert(audit), rows)


def timeline(connection: Connection, incident: str) -> list[AuditRow]:
    """In the order it was written, which is the order it was decided."""
    query = select(audit).where(audit.c.incident == incident).order_by(audit.c.id)
    return [
        AuditRow(row.incident, row.at, row.reason, row.actor, row.state, codec.facts(row.detail))
        for row in connection.execute(query)
    ]
