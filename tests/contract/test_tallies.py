"""Tallies in memory, on SQLite and on PostgreSQL: the same contract."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.sql import SqlStore
from monitor.store.tallies import SqlTallies
from tests.contract.tallies_contract import TalliesContract
from tests.support.stores import KEYRING


class TestMemoryTallies(TalliesContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()

    @pytest.fixture
    def tallies(self, store):
        return MemoryTallies(store)


class _Sql(TalliesContract):
    @pytest.fixture
    def tallies(self, store):
        return SqlTallies(store.database)


class TestSqliteTallies(_Sql):
    @pytest.fixture
    async def store(self, sqlite_url):
        store = SqlStore(sqlite_url, KEYRING)
        yield store
        await store.close()


@pytest.mark.postgres
class TestPostgresTallies(_Sql):
    @pytest.fixture
    async def store(self, postgres_url):
        store = SqlStore(postgres_url, KEYRING)
        yield store
        await store.close()
