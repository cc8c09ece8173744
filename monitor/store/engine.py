"""Engines set up for what this product needs of each database. Nothing is connected when they are made."""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from monitor.store.url import prepare

POOL = 5
OVERFLOW = 5


def sqlite_engine(url: URL, seconds: float) -> Engine:
    """``seconds``: how long a write waits for another process's write."""
    prepare(url)
    engine = create_engine(url, hide_parameters=True, pool_timeout=seconds)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction of its own: ``begun`` does
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # In WAL mode a power cut may undo the newest commits, but all of each, positions included:
        # the batch is read again. A crash of the process undoes nothing.
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten, not only unlinked
        cursor.close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        # A transaction that will write takes the write lock first, or two of them could never both end.
        writes = connection.get_execution_options().get("writes", True)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def postgres_engine(url: URL, seconds: float) -> AsyncEngine:
    """``seconds``: how long connecting, a statement, or silence on the line may last."""
    milliseconds = int(seconds * 1000)
    return create_async_engine(
        url,
        hide_parameters=True,  # a statement's values must not get into a message
        pool_size=POOL,
        max_overflow=OVERFLOW,
        pool_timeout=seconds,
        # A connection that the server dropped is found before it is used, never in the middle of a commit.
        pool_pre_ping=True,
        connect_args=_arguments(
            url,
            {
                "statement_timeout": milliseconds,
                "lock_timeout": milliseconds // 2,
                "idle_in_transaction_session_timeout": milliseconds * 10,
            },
        )
        | {"tcp_user_timeout": milliseconds},
    )


def migration_engine(url: URL) -> Engine:
    """An engine for work outside the event loop, which may wait for another process that does the same."""
    if url.get_backend_name() == "sqlite":
        return sqlite_engine(url, seconds=30)
    return create_engine(url, hide_parameters=True, connect_args=_arguments(url, {"lock_timeout": 30_000}))


def _arguments(url: URL, limits: dict[str, int]) -> dict[str, Any]:
    """Arguments of libpq; what the URL itself says goes first."""
    arguments = {
        "connect_timeout": 3,  # libpq takes whole seconds, two at least
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "application_name": "jiezhu",
        "options": " ".join(f"-c {name}={value}" for name, value in limits.items()),
    }
    return {name: value for name, value in arguments.items() if name not in url.query}
