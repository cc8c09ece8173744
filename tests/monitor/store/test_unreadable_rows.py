"""One row of the outbox that cannot be read costs the others nothing, and is not forgotten."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from alerts.delivery import Answer, Attempt, RetryPolicy, answered, carried, started
from alerts.page import Kind, Trouble
from monitor.store import codec, outbox
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.support.cases import NOW, SECOND
from tests.support.pages import a_notification
from tests.support.stores import KEYRING
from tests.support.storms import GROUPING

LEASE = timedelta(seconds=15)


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    store = SqlStore(url, KEYRING)
    yield store
    await store.close()


async def put(store: SqlStore, row: str, column: str, value: str) -> None:
    """Somebody's hand, or a later release."""
    statement = text(f"UPDATE outbox SET {column} = :value WHERE id = :row")
    await store.database.write(lambda c: c.execute(statement, {"value": value, "row": row}))


def of_release(body: str, version: int) -> str:
    return json.dumps(json.loads(body) | {"v": version})


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("page", "x"),
        ("page", '{"v":1,"body":{"kind":"page"}}'),
        ("page", of_release(codec.PAGES.encode(a_notification().page), codec.VERSION + 2)),
        ("delivery", ""),
        ("delivery", '{"v":1,"body":{}}'),
    ],
    ids=["damaged", "incomplete", "two releases ahead", "delivery empty", "delivery incomplete"],
)
async def test_the_others_are_sent(store, column, value):
    await store.commit(Work(notifications=[a_notification(f"n-{number}") for number in range(3)]))
    await put(store, "n-1", column, value)
    with capture_logs() as logged:
        assert {row.id for row in await store.claim(NOW, LEASE, 10)} == {"n-0", "n-2"}
    assert [(entry["event"], entry["rows"]) for entry in logged] == [("outbox_rows_unreadable", 1)]
    assert "n-1" not in str(logged)
    lent = await store.database.read(lambda c: outbox.lend(c, NOW + LEASE, 10))
    assert {row.id for row in lent} == {"n-0", "n-2"}


async def test_it_keeps_its_lease_grows_old_and_is_sent_once_it_can_be_read(store):
    row = a_notification("n-1", created_at=NOW)
    await store.commit(Work(notifications=[row]))
    await put(store, "n-1", "page", "x")
    with capture_logs() as logged:
        for second in range(30):
            assert await store.claim(NOW + second * SECOND, LEASE, 10) == []
    assert len(logged) == 2
    assert await store.oldest(NOW + 30 * SECOND) == 30 * SECOND
    await put(store, "n-1", "page", codec.PAGES.encode(row.page))
    assert list(await store.claim(NOW + 30 * SECOND, LEASE, 10)) == [row]


async def test_a_word_for_what_ails_us_that_a_later_release_has_is_sent(store):
    await store.commit(Work(notifications=[a_notification("n-1", trouble=Trouble.LINE_STOPPED)]))
    await put(
        store,
        "n-1",
        "page",
        codec.PAGES.encode(a_notification("n-1", trouble=Trouble.LINE_STOPPED).page).replace(
            "line_stopped", "unheard_of"
        ),
    )
    [row] = await store.claim(NOW, LEASE, 10)
    assert row.page.trouble is Trouble.OTHER


async def test_an_incident_with_such_a_row_can_be_taken_and_closed(store):
    page = replace(a_notification("i-1:page:0:first", incident="i-1", dedup_key="i-1"), told_by="jz-group-1")
    rise = a_notification("i-1-r9:page:0:first", incident="i-1", dedup_key="i-1-r9")
    await store.commit(Work(notifications=[replace(page, delivery=carried(page.delivery)), rise]))
    for row in (page, rise):
        await put(store, row.id, "delivery", "x")
    taken = a_notification("i-1:acknowledge:0:first", kind=Kind.ACKNOWLEDGE, incident="i-1", dedup_key="i-1")
    await store.commit(Work(notifications=[taken]))
    claimed = await store.claim(NOW, LEASE, 10)
    assert [row.id for row in claimed] == [taken.id]
    assert [row.id for row in (await store.admit(claimed, NOW, GROUPING.decide)).send] == [taken.id]
    yes = answered(started(taken.delivery, NOW), Attempt(Answer.ACCEPTED, "http_202"), NOW, RetryPolicy())
    await store.record(taken.id, yes)
    await store.commit(Work(withdrawals=["i-1"]))
    assert await store.oldest(NOW + 9 * SECOND) == timedelta(0)


async def test_what_was_accepted_is_told_of_the_others(store):
    rows = [a_notification(f"n-{number}") for number in range(2)]
    await store.commit(Work(notifications=rows))
    for row in rows:
        yes = answered(started(row.delivery, NOW), Attempt(Answer.ACCEPTED, "http_202"), NOW, RetryPolicy())
        await store.record(row.id, yes)
    await put(store, "n-0", "delivery", "x")
    assert await store.accepted(["n-0", "n-1"]) == {"n-1": NOW}
