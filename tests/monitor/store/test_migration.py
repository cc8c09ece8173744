import stat
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from monitor.errors import ConfigurationError, StoreError
from monitor.store.engine import migration_engine
from monitor.store.migration import Tables, current, head, is_current, migrate, tables
from monitor.store.schema import metadata
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import Advance, Work
from tests.support.stores import KEYRING

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def bare_url(request, tmp_path):
    """A database without any tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'bare.sqlite'}"
    return request.getfixturevalue("postgres").database()


def run(url, statement):
    engine = migration_engine(parse(url))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_a_bare_database_gets_its_tables_once(bare_url):
    assert (tables(bare_url), current(bare_url), is_current(bare_url)) == (Tables.MISSING, None, False)
    migrate(bare_url)
    migrate(bare_url)
    assert (tables(bare_url), current(bare_url), is_current(bare_url)) == (Tables.CURRENT, head(), True)


def test_migrations_make_what_the_schema_says(url):
    engine = migration_engine(parse(url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_partial_indexes_are_partial_on_both(url):
    """``compare_metadata`` does not look at their conditions."""
    engine = migration_engine(parse(url))
    query = (
        "SELECT sql FROM sqlite_master WHERE type = 'index'"
        if url.startswith("sqlite")
        else "SELECT indexdef FROM pg_indexes"
    )
    with engine.connect() as connection:
        made = [row[0].upper() for row in connection.execute(text(query)) if row[0]]
    engine.dispose()
    for name, condition in {
        "ix_outbox_due": "DUE_AT IS NOT NULL",
        "ix_outbox_waiting": "DUE_AT IS NOT NULL",
        "ix_outbox_done": "DUE_AT IS NULL",
        "ix_cases_wake_at": "WAKE_AT IS NOT NULL",
        "ix_cases_sealed": "SEALED IS NOT NULL",
        "ix_incidents_open": "NOT OVER",
    }.items():
        [statement] = [s for s in made if f"INDEX {name.upper()} " in s]
        assert condition in statement.replace("(", "").replace(")", "")


def test_back_down_to_nothing_and_up_again(bare_url):
    migrate(bare_url)
    from alembic import command

    from monitor.store.migration import _config

    engine = migration_engine(parse(bare_url))
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    engine.dispose()
    assert tables(bare_url) is Tables.MISSING
    migrate(bare_url)
    assert is_current(bare_url)


MIGRATE = (
    "import sys; from monitor.store.migration import migrate, head; head();"
    " url = sys.stdin.readline().strip(); print('ready', flush=True); sys.stdin.readline(); migrate(url)"
)


def test_processes_that_migrate_at_once_all_end_well(bare_url):
    pipe = subprocess.PIPE
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE], stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, text=True
        )
        for _ in range(4)
    ]
    for worker in workers:
        worker.stdin.write(f"{bare_url}\n")
        worker.stdin.flush()
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    errors = [worker.communicate(timeout=60)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, errors
    assert is_current(bare_url)


async def test_tables_of_a_later_release_are_used_and_left_alone(url):
    run(url, "UPDATE alembic_version SET version_num = '9999'")
    run(url, "ALTER TABLE positions ADD COLUMN later TEXT NOT NULL DEFAULT ''")
    assert (tables(url), is_current(url)) == (Tables.AHEAD, True)
    migrate(url)
    assert current(url) == "9999"
    store = SqlStore(url, KEYRING)
    await store.commit(Work(advances=[Advance(("t", 0), 0, 5)]))
    assert await store.positions([("t", 0)]) == {("t", 0): 5}
    await store.close()


async def test_without_tables_the_store_says_what_to_do(bare_url):
    store = SqlStore(bare_url, KEYRING)
    with pytest.raises(StoreError, match="jiezhu migrate"):
        await store.positions([("t", 0)])
    with pytest.raises(StoreError, match="jiezhu migrate"):
        await store.commit(Work(advances=[Advance(("t", 0), 0, 5)]))
    await store.close()


def test_the_sqlite_file_is_its_owners_alone(sqlite_url, tmp_path):
    path = tmp_path / "new.sqlite"
    migrate(f"sqlite:///{path}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "hunter2",
        "mysql://u:hunter2@h/d",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql://u:hunter2@h:port/d",
        "sqlite:////nowhere/at/all/hunter2",
    ],
)
def test_a_bad_url_is_a_configuration_error_that_does_not_show_it(bad):
    with pytest.raises(ConfigurationError, match=r"^JIEZHU_DATABASE__URL: ") as caught:
        SqlStore(bad, KEYRING)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConfigurationError):
        migrate(bad)


@pytest.mark.parametrize(
    ("given", "driver"),
    [
        ("sqlite:///f", "sqlite"),
        ("sqlite+aiosqlite:///f", "sqlite"),
        ("postgres://h/d", "postgresql+psycopg"),
        ("postgresql://h/d", "postgresql+psycopg"),
        ("postgresql+psycopg://h/d", "postgresql+psycopg"),
    ],
)
def test_the_driver_is_chosen_for_the_user(given, driver):
    assert parse(given).drivername == driver
