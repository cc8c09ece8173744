"""What workers ask again and again reads an index, however much is on record. SQLite says how it would go about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from alerts.canary import Canary
from monitor.store.engine import migration_engine
from monitor.store.erasing import Erasing
from monitor.store.records import Records
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from tests.support.cases import NOW
from tests.support.stores import KEYRING

DAY = timedelta(days=1)
LARGE = {f"SCAN {table}" for table in ("cases", "incidents", "outbox", "findings", "audit")}
Plans = dict[str, list[str]]  # by statement


class Asked:
    def __init__(self, url: str) -> None:
        self.store = SqlStore(url, KEYRING)
        self.erasing = Erasing(self.store.database, KEYRING)
        self.records = Records(self.store.database, KEYRING)


@pytest.fixture
async def asked(sqlite_url):
    asked = Asked(sqlite_url)
    yield asked
    await asked.store.close()


@contextmanager
def heard(url: str) -> Iterator[Plans]:
    """What is sent to the database meanwhile, and how it would be answered."""
    said: list[tuple[str, Any]] = []

    def listen(_c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        said.append((statement, values))

    plans: Plans = {}
    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield plans
    finally:
        event.remove(Engine, "before_cursor_execute", listen)
    engine = migration_engine(parse(url))
    with engine.connect() as connection:
        for statement, values in said:
            if statement.startswith(("SELECT", "DELETE", "UPDATE")):
                found = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
                plans[statement] = [row.detail for row in found]
    engine.dispose()


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda on: on.store.incidents(open_only=True, limit=50), "ix_incidents_open"),
        (lambda on: on.records.open(None, 25), "ix_incidents_open"),
        (lambda on: on.records.open((NOW, "jz-1-1"), 25), "ix_incidents_open (opened_at>?)"),
        (lambda on: on.records.begin(NOW), "ix_audit_at (at>?)"),
        (lambda on: on.erasing.age_rest(NOW), "ix_outbox_done (created_at<?)"),
        (lambda on: on.erasing.age(NOW, (NOW - DAY, "jz-1-1")), "ix_incidents_opened_at (opened_at>? AND opened_at<?)"),
        (lambda on: on.store.sweep_canaries(Canary(1, 0)), "(conversation>? AND conversation<?)"),
        (lambda on: on.store.sweep_canaries(Canary(1, 0)), "ix_outbox_incident (incident>? AND incident<?)"),
        (lambda on: on.store.newest_canaries(), "ix_outbox_incident (incident>? AND incident<?)"),
    ],
)  # fmt: skip
async def test_it_goes_by_an_index(
    asked: Asked, sqlite_url: str, ask: Callable[[Asked], Awaitable[object]], index: str
) -> None:
    with heard(sqlite_url) as plans:
        await ask(asked)
    steps = [step for plan in plans.values() for step in plan]
    assert any(f"{index} " in f"{step} " for step in steps), steps
    assert LARGE & set(steps) == set()
