"""The store in memory, on SQLite and on PostgreSQL: the same contract."""

from __future__ import annotations

import pytest

from monitor.store.work import Work
from tests.contract.outbox_contract import OutboxContract
from tests.contract.store_contract import StoreContract
from tests.contract.stores import InMemory, OnPostgres, OnSqlite


class _StoreAsOutbox(OutboxContract):
    @pytest.fixture
    async def outbox(self, store):
        return store

    async def add(self, outbox, *notifications):
        await outbox.commit(Work(notifications=notifications))


class TestMemoryStore(InMemory, StoreContract):
    pass


class TestSqliteStore(OnSqlite, StoreContract):
    pass


class TestPostgresStore(OnPostgres, StoreContract):
    pass


class TestMemoryStoreAsOutbox(InMemory, _StoreAsOutbox):
    pass


class TestSqliteOutbox(OnSqlite, _StoreAsOutbox):
    pass


class TestPostgresOutbox(OnPostgres, _StoreAsOutbox):
    pass
