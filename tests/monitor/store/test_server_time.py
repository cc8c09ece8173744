"""The time that all workers share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.store.shared_time import Agreed
from monitor.store.sql import SqlStore
from tests.support.stores import KEYRING


async def test_a_database_on_this_machine_has_no_time_of_its_own_and_a_server_has(url: str):
    store = SqlStore(url, KEYRING)
    told = await store.time()
    await store.close()
    if url.startswith("sqlite"):
        assert told is None
    else:
        assert told is not None
        assert told.agreed is None
        assert abs(told.database - datetime.now(UTC)) < timedelta(seconds=30)


@pytest.mark.postgres
async def test_what_workers_agree_upon_is_written_by_one_of_them(url: str):
    if url.startswith("sqlite"):
        return  # has none
    store = SqlStore(url, KEYRING)
    first, other = (Agreed(timedelta(seconds=n), datetime.now(UTC)) for n in (-3600, 7))
    assert [await store.agree(None, first), await store.agree(None, other)] == [True, False]
    assert (await store.time()).agreed == first
    assert not await store.agree(other, other)
    assert await store.agree(first, other)
    assert (await store.time()).agreed == other
    await store.close()
