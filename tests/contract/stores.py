"""What a contract of the store is held against: mixed into its tests, each gives the fixture ``store``."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from tests.support.stores import KEYRING


class InMemory:
    @pytest.fixture
    async def store(self):
        return MemoryStore()


class OnSqlite:
    @pytest.fixture
    async def store(self, sqlite_url):
        store = SqlStore(sqlite_url, KEYRING)
        yield store
        await store.close()


@pytest.mark.postgres
class OnPostgres:
    @pytest.fixture
    async def store(self, postgres_url):
        store = SqlStore(postgres_url, KEYRING)
        yield store
        await store.close()
