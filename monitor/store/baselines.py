"""Baselines on SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, select

from monitor.baselines import Baseline, Baselines
from monitor.store import codec
from monitor.store.dialect import insert_absent
from monitor.store.schema import baselines

__all__ = ["Baseline", "Baselines", "read", "write"]

_COLUMNS = tuple(one.name for one in fields(Baseline))


def write(connection: Connection, baseline: Baseline) -> bool:
    values = {name: getattr(baseline, name) for name in _COLUMNS}
    values["models"] = codec.dumps(dict(baseline.models))
    made = insert_absent(connection, baselines).values(**values).returning(baselines.c.name)
    return connection.scalar(made) is not None


def read(connection: Connection) -> list[Baseline]:
    newest = select(baselines).order_by(baselines.c.pinned_at.desc(), baselines.c.name.desc())
    return [_baseline(row) for row in connection.execute(newest)]


def _baseline(row: Any) -> Baseline:
    """Where it is damaged it names no models, as if nobody knew what judged it: the others are not its hostages."""
    values = {name: getattr(row, name) for name in _COLUMNS}
    return Baseline(**{**values, "models": codec.facts(row.models)})
