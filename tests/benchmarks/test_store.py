"""Times of the store: a batch of 40 cases, and claiming beside a million rows that are done with."""

from __future__ import annotations

import statistics
import time
from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.store.engine import migration_engine
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import Advance, AuditRow, CaseWrite, Excerpt, FindingRow, Work
from tests.support.cases import NOW, PARTITION, a_long_case, an_incident
from tests.support.pages import a_notification
from tests.support.postgres import postgres
from tests.support.stores import (
    KEYRING,
    postgres_template,
    postgres_url,
    sqlite_template,
    sqlite_url,
    url,
)

__all__ = ["postgres", "postgres_template", "postgres_url", "sqlite_template", "sqlite_url", "url"]

pytestmark = pytest.mark.bench

CASES = 40
ROUNDS = 40
FINISHED = 1_000_000


def a_batch(number: int, entries: int) -> Work:
    return Work(
        advances=[Advance(PARTITION, number * CASES, (number + 1) * CASES)],
        cases=[
            CaseWrite(a_long_case(f"c-{case}", entries, version=number), PARTITION, NOW)
            for case in range(CASES)
        ],
        incidents=[an_incident(f"i-{incident}") for incident in range(4)],
        notifications=[a_notification(f"n-{number}-{row}") for row in range(2)],
        findings=[a_finding(f"f-{number}-{row}") for row in range(10)],
        audit=[AuditRow("i-1", NOW, "opened", "worker", "watching") for _ in range(4)],
        excerpts=[Excerpt("i-1", f"{number}-{row}", "user", NOW, "words " * 20) for row in range(4)],
    )


def a_finding(key: str) -> FindingRow:
    return FindingRow(key, "c-1", None, "turn", NOW, "none", 0.1, 0.2, None, "scored", "r", "canary", "zh")


def told(what: str, seconds: list[float]) -> None:
    settled = sorted(1000 * second for second in seconds[3:])
    middle, most = statistics.median(settled), settled[int(len(settled) * 0.95)]
    print(f"\n{what}: least {settled[0]:.1f} ms, median {middle:.1f} ms, 95 % {most:.1f} ms", end="")


@pytest.mark.parametrize("entries", [8, 20, 64])
async def test_a_batch_of_40_cases(url, entries):
    store = SqlStore(url, KEYRING)
    keys = [f"c-{case}" for case in range(CASES)]
    written, read = [], []
    for number in range(ROUNDS):
        work = a_batch(number, entries)
        started = time.perf_counter()
        await store.commit(work)
        written.append(time.perf_counter() - started)
        started = time.perf_counter()
        found = await store.cases(keys)
        read.append(time.perf_counter() - started)
    assert {case.version for case in found.values()} == {ROUNDS}
    kind = url.split(":")[0]
    told(f"{kind}, commit of {CASES} cases of {entries} entries", written)
    told(f"{kind}, reading them", read)
    await store.close()


async def test_claiming_beside_a_million_finished_rows(url):
    engine = migration_engine(parse(url))
    count = f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {FINISHED})"
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO outbox (id, incident, calm, created_at, due_at, page, delivery)"
                f" {count} SELECT 'old-' || i, 'i', false, i, NULL, '', '' FROM s"
            )
        )
    engine.dispose()
    store = SqlStore(url, KEYRING, timedelta(seconds=30))
    claims, ages = [], []
    for number in range(ROUNDS):
        await store.commit(Work(notifications=[a_notification(f"n-{number}-{row}") for row in range(10)]))
        started = time.perf_counter()
        claimed = await store.claim(NOW, timedelta(days=1), 10)
        claims.append(time.perf_counter() - started)
        assert len(claimed) == 10
        started = time.perf_counter()
        await store.oldest(NOW)
        ages.append(time.perf_counter() - started)
    kind = url.split(":")[0]
    told(f"{kind}, claim of 10 beside {FINISHED:,} finished rows", claims)
    told(f"{kind}, age of the oldest", ages)
    await store.close()
