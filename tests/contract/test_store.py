"""The store in memory, on SQLite and on PostgreSQL: the same contract."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.contract.outbox_contract import OutboxContract
from tests.contract.store_contract import StoreContract
from tests.support.stores import KEYRING


class _Memory:
    @pytest.fixture
    async def store(self):
        return MemoryStore()


class _Sqlite:
    @pytest.fixture
    async def store(self, sqlite_url):
        store = SqlStore(sqlite_url, KEYRING)
        yield store
        await store.close()


@pytest.mark.postgres
class _Postgres:
    @pytest.fixture
    async def store(self, postgres_url):
        store = SqlStore(postgres_url, KEYRING)
        yield store
        await store.close()


class _StoreAsOutbox(OutboxContract):
    @pytest.fixture
    async def outbox(self, store):
        return store

    async def add(self, outbox, *notifications):
        await outbox.commit(Work(notifications=notifications))


class TestMemoryStore(_Memory, StoreContract):
    pass


class TestSqliteStore(_Sqlite, StoreContract):
    pass


class TestPostgresStore(_Postgres, StoreContract):
    pass


class TestMemoryStoreAsOutbox(_Memory, _StoreAsOutbox):
    pass


class TestSqliteOutbox(_Sqlite, _StoreAsOutbox):
    pass


class TestPostgresOutbox(_Postgres, _StoreAsOutbox):
    pass
