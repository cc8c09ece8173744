"""The database away: an answer within the time limit, by our name for it, and all well again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sqlite3
import time
from datetime import timedelta

import pytest

from alerts.delivery import Delivery
from monitor.errors import StoreUnavailable
from monitor.store.sql import SqlStore
from monitor.store.work import Advance, Work
from tests.support.cases import NOW, SECOND
from tests.support.postgres import Cluster
from tests.support.stores import KEYRING

LIMIT = timedelta(seconds=0.6)
SLACK = 1.0  # seconds, for a busy machine
ADVANCE = Work(advances=[Advance(("t", 0), 0, 5)])

EVERY_METHOD = {
    "positions": lambda s: s.positions([("t", 0)]),
    "cases": lambda s: s.cases(["c"]),
    "commit": lambda s: s.commit(ADVANCE),
    "due": lambda s: s.due(NOW, 1),
    "next_wake": lambda s: s.next_wake(),
    "incident": lambda s: s.incident("i"),
    "partition_of": lambda s: s.partition_of("c"),
    "incidents": lambda s: s.incidents(open_only=True, limit=1),
    "alike": lambda s: s.alike("r", NOW),
    "timeline": lambda s: s.timeline("i"),
    "excerpts": lambda s: s.excerpts("i"),
    "expire": lambda s: s.expire(NOW),
    "claim": lambda s: s.claim(NOW, SECOND, 1),
    "record": lambda s: s.record("n", Delivery(("a",))),
    "oldest": lambda s: s.oldest(NOW),
    "ping": lambda s: s.ping(),
    "probe": lambda s: s.probe(NOW),
}


async def unavailable(call) -> float:
    """Run a call that must fail; return the seconds it took."""
    started = time.monotonic()
    with pytest.raises(StoreUnavailable) as caught:
        await call
    message = str(caught.value) + repr(caught.value.__cause__)
    for secret in ("hunter2", "postgresql://", "sqlite://", "someone"):
        assert secret not in message
    return time.monotonic() - started


async def answers(store: SqlStore, seconds: float = 20.0) -> None:
    """Wait until the store answers again."""
    async with asyncio.timeout(seconds):
        while True:
            with contextlib.suppress(StoreUnavailable):
                await store.ping()
                return
            await asyncio.sleep(0.05)


@pytest.fixture
async def mute_port():
    """A server that accepts and says nothing."""
    held = []

    async def hold(reader, writer):
        held.append(writer)
        with contextlib.suppress(ConnectionError):
            await reader.read()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    for writer in held:
        writer.close()
    server.close()
    await server.wait_closed()


@pytest.fixture
def closed_port():
    import socket

    with socket.socket() as bound:  # bound and not listening: nobody else gets it, and it refuses
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("method", EVERY_METHOD)
async def test_refused_connections_are_told_at_once(closed_port, method):
    store = SqlStore(f"postgresql://someone:hunter2@127.0.0.1:{closed_port}/d", KEYRING, LIMIT)
    assert await unavailable(EVERY_METHOD[method](store)) < LIMIT.total_seconds() + SLACK
    await store.close()


async def test_silence_is_told_within_the_time_limit(mute_port):
    store = SqlStore(f"postgresql://someone:hunter2@127.0.0.1:{mute_port}/d", KEYRING, LIMIT)
    for method in ("commit", "claim", "ping"):
        assert await unavailable(EVERY_METHOD[method](store)) < LIMIT.total_seconds() + SLACK
    took = await asyncio.gather(*(unavailable(store.ping()) for _ in range(20)))
    assert max(took) < LIMIT.total_seconds() + SLACK
    started = time.monotonic()
    await store.close()
    assert time.monotonic() - started < LIMIT.total_seconds() + SLACK
    gc.collect()  # a connection left behind would be told now, as a warning, which is an error here


@pytest.mark.postgres
async def test_a_wrong_password_is_not_shown(postgres: Cluster):
    store = SqlStore(f"postgresql://postgres:hunter2@127.0.0.1:{postgres.port}/postgres", KEYRING, LIMIT)
    await unavailable(store.ping())
    await store.close()


@pytest.mark.postgres
async def test_a_server_that_restarts_is_found_again(postgres: Cluster, postgres_url: str):
    store = SqlStore(postgres_url, KEYRING, LIMIT)
    await asyncio.gather(*(store.ping() for _ in range(4)))
    postgres.stop()
    try:
        took = await asyncio.gather(*(unavailable(store.ping()) for _ in range(4)))
        assert max(took) < LIMIT.total_seconds() + SLACK
    finally:
        postgres.start()
    await answers(store)
    await store.commit(ADVANCE)
    assert await store.positions([("t", 0)]) == {("t", 0): 5}
    await store.close()


@pytest.mark.postgres
async def test_dropped_connections_are_replaced_unseen(postgres: Cluster, postgres_url: str):
    store = SqlStore(postgres_url, KEYRING)
    await asyncio.gather(*(store.ping() for _ in range(4)))
    postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'jiezhu'"
    )
    await store.commit(ADVANCE)
    assert await store.positions([("t", 0)]) == {("t", 0): 5}
    await store.close()


@pytest.mark.postgres
async def test_a_server_that_freezes_is_given_up_and_found_again(postgres: Cluster, postgres_url: str):
    store = SqlStore(postgres_url, KEYRING, LIMIT)
    await asyncio.gather(*(store.ping() for _ in range(4)))
    with postgres.frozen():
        for _ in range(2):
            took = await asyncio.gather(*(unavailable(store.ping()) for _ in range(8)))
            assert max(took) < LIMIT.total_seconds() + SLACK
    await answers(store)
    await store.commit(ADVANCE)
    await store.close()


@pytest.mark.postgres
async def test_a_lock_held_by_somebody_else_is_given_up(postgres: Cluster, postgres_url: str):
    import psycopg

    store = SqlStore(postgres_url, KEYRING, LIMIT)
    with psycopg.connect(postgres_url) as other:
        other.execute("LOCK TABLE positions IN EXCLUSIVE MODE")
        assert await unavailable(store.commit(ADVANCE)) < LIMIT.total_seconds() + SLACK
    await store.commit(ADVANCE)
    await store.close()


async def test_a_sqlite_file_locked_by_another_process_is_given_up(sqlite_url: str):
    store = SqlStore(sqlite_url, KEYRING, LIMIT)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert await unavailable(store.commit(ADVANCE)) < LIMIT.total_seconds() + SLACK
    assert await store.positions([("t", 0)]) == {}  # readers are not held up
    other.execute("ROLLBACK")
    other.close()
    await store.commit(ADVANCE)
    assert await store.positions([("t", 0)]) == {("t", 0): 5}
    await store.close()


async def test_a_caller_that_is_cancelled_leaves_the_store_whole(url: str):
    store = SqlStore(url, KEYRING)
    for _ in range(12):
        task = asyncio.create_task(store.oldest(NOW))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await store.commit(ADVANCE)
    assert await store.positions([("t", 0)]) == {("t", 0): 5}
    await store.close()
