"""The outbox against a model of it, step by step, on SQLite; and two processes that claim at once."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text

from alerts.delivery import State
from alerts.page import Kind
from monitor.store.engine import migration_engine
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import Work
from tests.support.cases import NOW, SECOND
from tests.support.pages import a_notification
from tests.support.stores import KEYRING

LEASE = timedelta(seconds=10)
FINISHED = 20_000  # rows that are done with


class OutboxModel(RuleBasedStateMachine):
    """Two relays share the outbox. ``rows`` holds what was last recorded, ``free_at`` when a row is free."""

    template: Path

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name) / "outbox.sqlite"
        shutil.copy(self.template, path)
        self.relays = [SqlStore(f"sqlite:///{path}", KEYRING) for _ in range(2)]
        self.now = NOW
        self.rows = {}
        self.free_at = {}

    def run(self, call):
        return self.loop.run_until_complete(call)

    def teardown(self) -> None:
        for relay in self.relays:
            self.run(relay.close())
        self.loop.close()
        self.directory.cleanup()

    @rule(target=ids, number=st.integers(0, 6), kind=st.sampled_from(Kind), relay=st.integers(0, 1))
    def add(self, number, kind, relay):
        row = a_notification(f"n-{number}", kind=kind, created_at=self.now)
        self.run(self.relays[relay].commit(Work(notifications=[row, row])))
        if row.id in self.rows:
            return multiple()
        self.rows[row.id], self.free_at[row.id] = row, self.now
        return row.id

    @rule(seconds=st.integers(0, 12))
    def time_passes(self, seconds):
        self.now += seconds * SECOND

    @rule(relay=st.integers(0, 1), limit=st.integers(1, 4))
    def claim(self, relay, limit):
        claimed = self.run(self.relays[relay].claim(self.now, LEASE, limit))
        free = [key for key, at in self.free_at.items() if at is not None and at <= self.now]
        assert len(claimed) == min(limit, len(free))
        assert {row.id for row in claimed} <= set(free)
        assert all(self.rows[row.id] == row for row in claimed)
        if any(self.rows[key].page.kind is Kind.PAGE for key in set(free) - {row.id for row in claimed}):
            assert all(row.page.kind is Kind.PAGE for row in claimed)
        for row in claimed:
            self.free_at[row.id] = self.now + LEASE

    @rule(key=ids, relay=st.integers(0, 1), state=st.sampled_from(State), wait=st.integers(0, 5))
    def record(self, key, relay, state, wait):
        next_at = self.now + wait * SECOND if state is State.RETRYING else None
        delivery = replace(self.rows[key].delivery, state=state, next_at=next_at)
        self.run(self.relays[relay].record(key, delivery))
        if self.free_at[key] is None:  # final stays final
            return
        self.rows[key] = replace(self.rows[key], delivery=delivery)
        if state.final:
            self.free_at[key] = None
        elif state is State.RETRYING:
            self.free_at[key] = next_at
        elif state is State.PENDING:
            self.free_at[key] = self.rows[key].created_at

    @invariant()
    def the_oldest_is_known(self):
        waiting = [
            self.now - row.created_at for key, row in self.rows.items() if self.free_at[key] is not None
        ]
        assert self.run(self.relays[0].oldest(self.now)) == max(waiting, default=timedelta(0))


def test_the_outbox_does_what_its_model_does(sqlite_template):
    OutboxModel.template = sqlite_template
    run_state_machine_as_test(
        OutboxModel, settings=settings(max_examples=25, stateful_step_count=25, deadline=None)
    )


async def test_claimers_on_their_own_connections_share_without_overlap(url):
    """As two workers do: each its own store, many claims at once, every row handed out once."""
    stores = [SqlStore(url, KEYRING) for _ in range(3)]
    rows = [a_notification(f"n-{number:03}") for number in range(120)]
    await stores[0].commit(Work(notifications=rows))

    async def drain(store):
        mine = []
        while claimed := await store.claim(NOW, LEASE, 7):
            mine += [row.id for row in claimed]
        return mine

    handed_out = [key for mine in await asyncio.gather(*map(drain, stores)) for key in mine]
    # A claimer that saw only locked rows may leave early; what it left is still there for the next.
    handed_out += [row.id for row in await stores[0].claim(NOW, LEASE, 200)]
    assert sorted(handed_out) == [row.id for row in rows]
    await asyncio.gather(*(store.close() for store in stores))


async def test_claiming_reads_the_small_index_alone(url):
    """However many rows are done with: the plan names the partial index, and no scan of the table."""
    engine = migration_engine(parse(url))
    count = f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {FINISHED})"
    series = (
        "INSERT INTO outbox (id, incident, calm, created_at, due_at, page, delivery)"
        f" {count} SELECT 'old-' || i, 'i', false, i, NULL, '', '' FROM s"
    )
    with engine.begin() as connection:
        connection.execute(text(series))
    with engine.begin() as connection:
        connection.execute(text("ANALYZE outbox"))
    explain = "EXPLAIN QUERY PLAN " if url.startswith("sqlite") else "EXPLAIN "
    query = "SELECT id FROM outbox WHERE due_at <= 5 ORDER BY calm, due_at, created_at LIMIT 10"
    with engine.connect() as connection:
        plan = " ".join(str(row) for row in connection.execute(text(explain + query)))
    engine.dispose()
    assert "ix_outbox_due" in plan or "ix_outbox_waiting" in plan, plan
    assert "Seq Scan" not in plan
    store = SqlStore(url, KEYRING)
    await store.commit(Work(notifications=[a_notification("n-1")]))
    assert [row.id for row in await store.claim(NOW, LEASE, 10)] == ["n-1"]
    await store.close()
