from tests.support.scripted_server import scripted_server
from tests.support.stores import sqlite_template, sqlite_url

__all__ = ["scripted_server", "sqlite_template", "sqlite_url"]
