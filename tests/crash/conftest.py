from __future__ import annotations

from tests.support.kafka import broker
from tests.support.postgres import postgres
from tests.support.stores import postgres_template, postgres_url, sqlite_template, sqlite_url
from tests.support.warm import warm_cache

__all__ = [
    "broker",
    "postgres",
    "postgres_template",
    "postgres_url",
    "sqlite_template",
    "sqlite_url",
    "warm_cache",
]
