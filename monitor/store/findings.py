"""Findings: crisis turns and verdicts, for review and rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from monitor.store import codec
from monitor.store.dialect import insert_absent
from monitor.store.schema import findings
from monitor.store.work import FindingRow


def rows_of(written: Sequence[FindingRow]) -> list[dict[str, Any]]:
    return [
        {
            "id": row.id,
            "conversation": row.conversation,
            "incident": row.incident,
            "kind": row.kind,
            "at": row.at,
            "level": row.level,
            "score": row.score,
            "distress": row.distress,
            "outcome": row.outcome,
            "reason": row.reason,
            "release": row.release,
            "track": row.track,
            "lang": row.lang,
            "detail": codec.dumps(dict(row.detail)),
        }
        for row in sorted(written, key=lambda row: row.id)
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(insert_absent(connection, findings), rows)
