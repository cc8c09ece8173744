from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.form import VARIABLE, form, tell
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A promise waits as long as its form needs."""
    patience = LONG if os.environ.get(VARIABLE) == "long" else SHORT
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(patience))
