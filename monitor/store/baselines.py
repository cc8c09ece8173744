"""Pinned baselines: what a release was like, to hold later ones against. They outlive restarts, retention and erasures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol

import orjson
from sqlalchemy import Connection, select

from monitor.store.dialect import insert_absent
from monitor.store.schema import baselines


@dataclass(frozen=True, slots=True)
class Baseline:
    """Counts and a sketch: no text, no id, no pseudonym. It never changes once it is pinned.

    ``models`` names by role what judged those hours: another model may see the same replies otherwise. ``figures`` are the
    cells of the hours from ``since`` until before ``until``, as a tally (``monitor.tally.codec.tally_of_json``).
    ``sketch`` is a ``detectors.drift`` sketch, packed.
    """

    name: str
    track: str
    release: str
    pinned_at: datetime
    since: datetime
    until: datetime
    models: Mapping[str, str]
    figures: str = field(repr=False)
    sketch: bytes = field(repr=False)


class Baselines(Protocol):
    """Every method raises ``StoreError``."""

    async def pin_baseline(self, baseline: Baseline) -> bool:
        """Keep it. Do nothing and return False if its name is taken."""
        ...

    async def baselines(self) -> list[Baseline]:
        """All, the newest pin first: of a track, the first one counts."""
        ...


_COLUMNS = tuple(one.name for one in fields(Baseline))


def write(connection: Connection, baseline: Baseline) -> bool:
    values = {name: getattr(baseline, name) for name in _COLUMNS}
    values["models"] = orjson.dumps(dict(baseline.models)).decode()
    made = insert_absent(connection, baselines).values(**values).returning(baselines.c.name)
    return connection.scalar(made) is not None


def read(connection: Connection) -> list[Baseline]:
    newest = select(baselines).order_by(baselines.c.pinned_at.desc(), baselines.c.name.desc())
    return [_baseline(row) for row in connection.execute(newest)]


def _baseline(row: Any) -> Baseline:
    values = {name: getattr(row, name) for name in _COLUMNS}
    return Baseline(**{**values, "models": orjson.loads(row.models)})
