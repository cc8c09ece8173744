"""Fixtures: empty, migrated databases of both kinds, and a keyring."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.crypto.keyring import Key, Keyring
from monitor.store.migration import migrate
from tests.support.postgres import Cluster

KEYRING = Keyring([Key("2026-03", b"n" * 32), Key("2025-11", b"o" * 32)])


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "template.sqlite"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres: Cluster) -> str:
    url = postgres.database()
    migrate(url)
    return url


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    path = tmp_path / "jiezhu.sqlite"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres: Cluster, postgres_template: str) -> Iterator[str]:
    url = postgres.copy(postgres_template)
    yield url
    postgres.execute(f"DROP DATABASE {url.rsplit('/', 1)[1]} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    """A migrated database, once of each kind."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found
