from __future__ import annotations

from tests.support.form import form, tell
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
