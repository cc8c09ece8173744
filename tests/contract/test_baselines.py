"""Baselines in memory, on SQLite and on PostgreSQL: the same contract, and what a database alone promises."""

from __future__ import annotations

import pytest

from monitor.store.sql import SqlStore
from tests.contract.baselines_contract import BaselinesContract, a_baseline
from tests.contract.stores import InMemory, OnPostgres, OnSqlite
from tests.support.stores import KEYRING


class TestMemoryBaselines(InMemory, BaselinesContract):
    pass


class TestSqliteBaselines(OnSqlite, BaselinesContract):
    pass


@pytest.mark.postgres
class TestPostgresBaselines(OnPostgres, BaselinesContract):
    pass


async def test_a_baseline_survives_a_restart(url):
    store = SqlStore(url, KEYRING)
    assert await store.pin_baseline(a_baseline())
    await store.close()
    again = SqlStore(url, KEYRING)
    assert await again.baselines() == [a_baseline()]
    await again.close()
