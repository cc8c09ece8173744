"""The time that all workers share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from monitor.store.sql import SqlStore
from tests.support.stores import KEYRING


async def test_a_database_on_this_machine_has_no_time_of_its_own_and_a_server_has(url: str):
    store = SqlStore(url, KEYRING)
    at = await store.time()
    await store.close()
    if url.startswith("sqlite"):
        assert at is None
    else:
        assert at is not None
        assert abs(at - datetime.now(UTC)) < timedelta(seconds=30)
