"""Baselines in memory, on SQLite and on PostgreSQL: the same contract, and what a database alone promises."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from tests.contract.baselines_contract import BaselinesContract, a_baseline
from tests.support.stores import KEYRING


class TestMemoryBaselines(BaselinesContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestSqliteBaselines(BaselinesContract):
    @pytest.fixture
    async def store(self, sqlite_url):
        store = SqlStore(sqlite_url, KEYRING)
        yield store
        await store.close()


@pytest.mark.postgres
class TestPostgresBaselines(BaselinesContract):
    @pytest.fixture
    async def store(self, postgres_url):
        store = SqlStore(postgres_url, KEYRING)
        yield store
        await store.close()


async def test_a_baseline_survives_a_restart(url):
    store = SqlStore(url, KEYRING)
    assert await store.pin_baseline(a_baseline())
    await store.close()
    again = SqlStore(url, KEYRING)
    assert await again.baselines() == [a_baseline()]
    await again.close()
