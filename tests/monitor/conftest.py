from tests.support.postgres import postgres
from tests.support.scripted_server import scripted_server
from tests.support.stores import postgres_template, postgres_url, sqlite_template, sqlite_url, url

__all__ = [
    "postgres",
    "postgres_template",
    "postgres_url",
    "scripted_server",
    "sqlite_template",
    "sqlite_url",
    "url",
]
