"""The way to the database: transactions, time limits, retries, and errors by our names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from sqlalchemy import URL, Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from monitor.errors import StoreUnavailable
from monitor.store.failure import retryable, translated
from monitor.store.runner import Runner, make_runner

T = TypeVar("T")

TIME_LIMIT = timedelta(seconds=3)
ATTEMPTS = 4  # of one transaction that lost against another
_FIRST_PAUSE = 0.01  # seconds, doubled each time


class Database:
    """``read`` and ``write`` run one operation in one transaction and answer within ``time_limit``."""

    def __init__(self, url: URL, time_limit: timedelta = TIME_LIMIT) -> None:
        self._limit = time_limit.total_seconds()
        self._runner: Runner = make_runner(url, self._limit)
        self._late: set[asyncio.Future[object]] = set()

    async def read(self, operation: Callable[[Connection], T]) -> T:
        return await self._limited(self._attempts(operation, writes=False))

    async def write(self, operation: Callable[[Connection], T]) -> T:
        return await self._limited(self._attempts(operation, writes=True))

    async def scrub(self) -> None:
        """Take what was deleted out of SQLite's write-ahead log. PostgreSQL's VACUUM does that by itself."""
        await self._limited(self._runner.scrub())

    async def close(self) -> None:
        if self._late:
            await asyncio.wait(self._late, timeout=self._limit)
        await self._runner.close()

    async def _attempts(self, operation: Callable[[Connection], T], *, writes: bool) -> T:
        attempt = 1
        while True:
            try:
                return await self._runner.run(operation, writes=writes)
            except DBAPIError as error:
                if attempt == ATTEMPTS or not retryable(error):
                    raise translated(error) from None
            except (SQLAlchemyError, OSError) as error:
                raise translated(error) from None
            await asyncio.sleep(_FIRST_PAUSE * 2**attempt)
            attempt += 1

    async def _limited(self, work: Awaitable[T]) -> T:
        """Leave work that is late behind: to cancel it may take as long as the database is silent."""
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limit)
        except asyncio.CancelledError:
            self._leave(task)
            raise
        if done:
            return task.result()
        self._leave(task)
        raise StoreUnavailable(
            f"the database did not answer within {self._limit:g} s; check that it runs and can be reached"
        )

    def _leave(self, task: asyncio.Future[T]) -> None:
        task.cancel()
        self._late.add(task)  # type: ignore[arg-type]
        task.add_done_callback(self._left)

    def _left(self, task: asyncio.Future[T]) -> None:
        self._late.discard(task)
        if not task.cancelled():
            task.exception()  # was told already; asking for it keeps asyncio from telling it again
