"""Tallies in memory, on SQLite and on PostgreSQL: the same contract."""

from __future__ import annotations

import pytest

from monitor.store.memory_tallies import MemoryTallies
from monitor.store.tallies import SqlTallies
from tests.contract.stores import InMemory, OnPostgres, OnSqlite
from tests.contract.tallies_contract import TalliesContract


class TestMemoryTallies(InMemory, TalliesContract):
    @pytest.fixture
    def tallies(self, store):
        return MemoryTallies(store)


class _Sql(TalliesContract):
    @pytest.fixture
    def tallies(self, store):
        return SqlTallies(store.database)


class TestSqliteTallies(OnSqlite, _Sql):
    pass


@pytest.mark.postgres
class TestPostgresTallies(OnPostgres, _Sql):
    pass
