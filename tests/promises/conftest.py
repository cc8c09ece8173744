from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.form import VARIABLE, Form, form, tell
from tests.support.kafka import broker
from tests.support.postgres import postgres
from tests.support.release_before import release_before
from tests.support.stores import postgres_template, postgres_url, sqlite_template, sqlite_url, url

__all__ = [
    "broker",
    "form",
    "postgres",
    "postgres_template",
    "postgres_url",
    "release_before",
    "sqlite_template",
    "sqlite_url",
    "tell",
    "url",
]

SHORT, LONG = 900, 14_400  # seconds after which a promise has hung; no measure of speed


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def new_database(request: pytest.FixtureRequest, form: Form, tmp_path: Path) -> Callable[[], str]:
    """Makes migrated databases: on SQLite in both forms of a promise, on PostgreSQL in the long one."""
    if request.param == "postgres":
        if not form.long:
            pytest.skip("on PostgreSQL in the long form")
        cluster = request.getfixturevalue("postgres")
        made = request.getfixturevalue("postgres_template")
        return lambda: str(cluster.copy(made))
    template: Path = request.getfixturevalue("sqlite_template")
    numbers = itertools.count(1)

    def copy() -> str:
        path = tmp_path / f"jiezhu-{next(numbers)}.sqlite"
        shutil.copy(template, path)
        return f"sqlite:///{path}"

    return copy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A promise waits as long as its form needs."""
    patience = LONG if os.environ.get(VARIABLE) == "long" else SHORT
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(patience))
