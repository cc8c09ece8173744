"""The disk is full: told by its own name, what is due is lent, nothing is spoilt, and all is well when there is room."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import InternalError, OperationalError

from alerts.delivery import Answer, Attempt, RetryPolicy, State, answered, started
from alerts.page import Kind
from monitor.errors import StoreUnavailable, StoreUnwritable
from monitor.store.failure import translated
from monitor.store.sql import SqlStore
from monitor.store.work import Advance, CaseWrite, Work
from tests.support.cases import NOW, PARTITION, SECOND, a_case
from tests.support.pages import a_notification
from tests.support.small_disk import SmallDisk, small_disk
from tests.support.stores import KEYRING

LEASE = timedelta(seconds=15)


@pytest.fixture
def disk(tmp_path: Path, sqlite_template: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path) as disk:
        shutil.copy(sqlite_template, disk.path / "jiezhu.sqlite")
        yield disk
        disk.free()


@pytest.fixture
async def store(disk: SmallDisk) -> AsyncIterator[SqlStore]:
    store = SqlStore(f"sqlite:///{disk.path / 'jiezhu.sqlite'}", KEYRING)
    yield store
    await store.close()


def a_step(number: int) -> Work:
    """Larger than what an old log has room for."""
    return Work(
        advances=[Advance(PARTITION, number, number + 1)],
        cases=[CaseWrite(a_case(f"c-{number}-{n}"), PARTITION, NOW) for n in range(50)],
        notifications=[a_notification(f"n-{number}")],
    )


async def test_a_full_disk_takes_nothing_and_spoils_nothing(disk, store):
    await store.commit(a_step(0))
    disk.fill()
    for _ in range(2):
        with pytest.raises(StoreUnwritable, match="make room"):
            await store.commit(a_step(1))
        assert await store.positions([PARTITION]) == {PARTITION: 1}
    disk.free()
    await store.commit(a_step(1))
    assert await store.positions([PARTITION]) == {PARTITION: 2}
    assert len(await store.due(NOW, 1_000)) == 100
    with sqlite3.connect(disk.path / "jiezhu.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def test_a_probe_tells_a_full_disk_which_a_ping_does_not(disk, store):
    await store.probe(NOW)
    disk.fill()
    await store.ping()
    with pytest.raises(StoreUnwritable):
        await probe_on(store)
    disk.free()
    await store.probe(NOW)


async def probe_on(store: SqlStore) -> None:
    """What is left of an old log takes some."""
    for second in range(2_000):
        await store.probe(NOW + second * SECOND)


async def full(disk: SmallDisk, store: SqlStore) -> None:
    disk.fill()
    with pytest.raises(StoreUnwritable):
        await probe_on(store)


async def test_what_is_due_is_lent_once_a_lease_pages_first(disk, store):
    rows = [a_notification(f"n-{n:03}", created_at=NOW + n * SECOND) for n in range(5)]
    calm = a_notification("calm", kind=Kind.TICKET, created_at=NOW - SECOND)
    await store.commit(Work(notifications=[calm, *rows]))
    await full(disk, store)
    now = NOW + 3 * SECOND
    assert [row.id for row in await store.claim(now, LEASE, 2)] == ["n-000", "n-001"]
    assert [row.id for row in await store.claim(now, LEASE, 10)] == ["n-002", "n-003", "calm"]
    assert await store.claim(now, LEASE, 10) == []
    later = now + LEASE
    assert (await store.claim(later, LEASE, 10))[0] == rows[0]
    disk.free()
    assert len(await store.claim(later, LEASE, 10)) == 6


async def test_what_became_of_a_lent_row_is_recorded_when_there_is_room(disk, store):
    await store.commit(Work(notifications=[a_notification("n-1")]))
    await full(disk, store)
    [row] = await store.claim(NOW, LEASE, 10)
    taken = answered(started(row.delivery, NOW), Attempt(Answer.ACCEPTED, "http_202"), NOW, RetryPolicy())
    with pytest.raises(StoreUnwritable):
        await store.record("n-1", taken)
    disk.free()
    await store.record("n-1", taken)
    assert taken.state is State.ACCEPTED
    assert await store.claim(NOW + 2 * LEASE, LEASE, 10) == []


@pytest.mark.parametrize("code", ["53100", "25006"])
def test_what_postgres_says(code):
    cause = Exception()
    cause.sqlstate = code
    for kind in (OperationalError, InternalError):
        assert isinstance(translated(kind("", {}, cause)), StoreUnwritable)
    cause.sqlstate = "57P01"
    found = translated(OperationalError("", {}, cause))
    assert isinstance(found, StoreUnavailable)
    assert not isinstance(found, StoreUnwritable)
