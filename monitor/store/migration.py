"""Making and changing the tables. Runs outside the event loop; two processes at once are safe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from pydantic import SecretStr
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from monitor.store.engine import migration_engine
from monitor.store.failure import translated
from monitor.store.url import parse

_LOCK = 0x6A69657A6875  # any number that nobody else takes: "jiezhu"


class Tables(StrEnum):
    """What stands in the database, seen from this release."""

    MISSING = "missing"
    BEHIND = "behind"  # migrate first
    CURRENT = "current"
    AHEAD = "ahead"  # of a later release: this one goes on working, one release apart


def migrate(url: str | SecretStr, revision: str = "head") -> None:
    """Bring the tables up to ``revision``. Does nothing to those of a later release. Raises StoreError."""
    with _connected(url) as connection, connection.begin():
        if connection.dialect.name == "postgresql":  # on SQLite the transaction itself is the lock
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if _tables(connection) is not Tables.AHEAD:
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, revision)


def current(url: str | SecretStr) -> str | None:
    """Revision of the tables; None if there are none. Raises StoreError."""
    with _connected(url) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def tables(url: str | SecretStr) -> Tables:
    with _connected(url) as connection:
        return _tables(connection)


def is_current(url: str | SecretStr) -> bool:
    """True if this release can work with the tables as they are. Writes nothing."""
    return tables(url) in (Tables.CURRENT, Tables.AHEAD)


def head() -> str:
    """The newest revision that this release knows."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    if found is None:
        raise AssertionError
    return found


def _tables(connection: Connection) -> Tables:
    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None:
        return Tables.MISSING
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision not in known:
        return Tables.AHEAD
    return Tables.CURRENT if revision == head() else Tables.BEHIND


def _config() -> Config:
    config = Config()
    place = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", place.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _connected(url: str | SecretStr) -> Iterator[Connection]:
    engine = migration_engine(parse(url))
    try:
        with engine.connect() as connection:
            yield connection
    except (SQLAlchemyError, OSError) as error:
        raise translated(error) from None
    finally:
        engine.dispose()
