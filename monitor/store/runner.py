"""How an operation gets to its database without holding up the event loop.

Operations are plain functions over a connection. SQLite's driver blocks, so each runs whole in a thread: one
change of threads a transaction, where a driver wrapped call by call makes dozens. PostgreSQL's does not.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from sqlalchemy import URL, Connection

from monitor.store.engine import postgres_engine, sqlite_engine

T = TypeVar("T")

READERS = 3
_BUSY_SHARE = 0.8  # waiting for another process's write ends before our own time limit does


class Runner(Protocol):
    async def run(self, operation: Callable[[Connection], T], *, writes: bool) -> T:
        """Run it in one transaction, committed at its end if it writes."""
        ...

    async def scrub(self) -> None: ...

    async def close(self) -> None: ...


def make_runner(url: URL, seconds: float) -> Runner:
    if url.get_backend_name() == "sqlite":
        return SqliteRunner(url, seconds)
    return PostgresRunner(url, seconds)


class SqliteRunner:
    """SQLite has one writer. Our own writes wait in line here, which is fair; its lock is only polled."""

    def __init__(self, url: URL, seconds: float) -> None:
        self._engine = sqlite_engine(url, seconds * _BUSY_SHARE)
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(READERS, "store-reader")

    async def run(self, operation: Callable[[Connection], T], *, writes: bool) -> T:
        executor, run = (self._writer, self._write) if writes else (self._readers, self._read)
        given_up = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, run, operation, given_up)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def scrub(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writer, self._checkpoint)

    def _checkpoint(self) -> None:
        with self._engine.connect() as connection:
            plain = connection.connection.driver_connection
            if plain is not None:
                plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    async def close(self) -> None:
        for executor in (self._writer, self._readers):
            executor.shutdown(wait=False, cancel_futures=True)
        self._engine.dispose()

    def _write(self, operation: Callable[[Connection], T], given_up: threading.Event) -> T:
        with self._engine.begin() as connection:
            result = operation(connection)
            if given_up.is_set():  # a thread cannot be cancelled; what nobody waits for is not written
                raise TimeoutError
            return result

    def _read(self, operation: Callable[[Connection], T], given_up: threading.Event) -> T:
        del given_up
        with self._engine.connect() as connection:
            return operation(connection.execution_options(writes=False))


class PostgresRunner:
    def __init__(self, url: URL, seconds: float) -> None:
        self._engine = postgres_engine(url, seconds)
        self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")  # saves two round trips

    async def run(self, operation: Callable[[Connection], T], *, writes: bool) -> T:
        if writes:
            async with self._engine.begin() as connection:
                return await connection.run_sync(operation)
        async with self._reading.connect() as connection:
            return await connection.run_sync(operation)

    async def scrub(self) -> None:
        """Dead rows are PostgreSQL's to remove, by its autovacuum."""

    async def close(self) -> None:
        await self._engine.dispose()
