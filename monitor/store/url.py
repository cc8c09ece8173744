"""Database URLs. They may hold a password, so no message shows one."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from monitor.errors import ConfigurationError

SETTING = "JIEZHU_DATABASE__URL"
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


def parse(text: str | SecretStr) -> URL:
    """Read ``sqlite:///FILE`` or ``postgresql://…`` and choose the driver. Raises ConfigurationError."""
    plain = text.get_secret_value() if isinstance(text, SecretStr) else text
    try:
        url = make_url(plain)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            SETTING, "not a database URL; write sqlite:///FILE or postgresql://…"
        ) from None
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        raise ConfigurationError(SETTING, "only sqlite and postgresql are supported")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ConfigurationError(SETTING, "SQLite needs a file, which the workers share: sqlite:///FILE")
    return url.set(drivername=driver)


def prepare(url: URL) -> None:
    """Make the SQLite file, for its owner alone, before anything opens it. Raises ConfigurationError."""
    if url.get_backend_name() != "sqlite" or url.database is None:
        return
    path = Path(url.database)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise ConfigurationError(
            SETTING, f"the SQLite file cannot be opened ({error.strerror}); make its directory writable"
        ) from None
