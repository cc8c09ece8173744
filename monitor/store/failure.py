"""What a database error means to us. Messages of drivers hold hosts, users and values: only codes get out."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from monitor.errors import StoreError, StoreUnavailable, StoreUnwritable

_SERIALIZATION_FAILURE, _DEADLOCK, _LOCK_TIMEOUT = "40001", "40P01", "55P03"
_RETRYABLE = frozenset({_SERIALIZATION_FAILURE, _DEADLOCK, _LOCK_TIMEOUT})
_NO_TABLE, _NO_COLUMN = "42P01", "42703"
_BUSY = frozenset({"SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED", "SQLITE_BUSY_RECOVERY"})

# The disk is full, a file's largest size is reached, or the server has become one that is only read.
_UNWRITABLE = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE", "53100", "25006"})


def retryable(error: DBAPIError) -> bool:
    """True if another transaction was in the way: nothing of ours was written."""
    return _code(error) in _RETRYABLE | _BUSY


def translated(error: Exception) -> StoreError:
    code = _code(error)
    if code in (_NO_TABLE, _NO_COLUMN) or _lacks_table(error):
        return StoreError("the database has not the tables of this release; run: jiezhu migrate")
    if isinstance(error, IntegrityError | DataError | ProgrammingError):
        return StoreError(f"the database refused a statement ({code}); this is a fault of jiezhu: report it")
    if code in _UNWRITABLE or code.startswith("SQLITE_READONLY"):
        return StoreUnwritable(f"the database takes no writes ({code}); make room on its disk")
    return StoreUnavailable(f"the database does not answer ({code}); check that it runs and can be reached")


def _code(error: Exception) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    for name in ("sqlstate", "sqlite_errorname"):
        code = getattr(cause, name, None)
        if isinstance(code, str):
            return code
    return type(cause).__name__


def _lacks_table(error: Exception) -> bool:
    cause = error.orig if isinstance(error, DBAPIError) else None
    return isinstance(cause, sqlite3.OperationalError) and str(cause).startswith(
        ("no such table", "no such column", "table ")
    )
