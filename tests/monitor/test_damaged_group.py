"""A group whose record is damaged: its keeper puts in its place what its own pages tell, and it goes on and ends like any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from alerts.delivery import RetryPolicy, answered, started
from alerts.group import Group
from alerts.incident import State
from alerts.lost_group import UNKNOWN
from alerts.page import Kind
from monitor.store import codec
from monitor.store.erasing import Erasing
from monitor.store.sql import SqlStore
from tests.support.damage import BROKEN, LATER, damage_row
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.storms import GROUPING
from tests.support.worker import Worker, incident_of, reply, user

MANY = 20
LOOK = timedelta(seconds=50)


@pytest.fixture
async def store(url):
    store = SqlStore(url, KEYRING)
    yield store
    await store.close()


@pytest.fixture
def worker(store):
    return Worker(store, FakeClock(), grouping=GROUPING)


async def send(worker: Worker, seconds: float = 0, *, times: int = 10) -> None:
    """What falls due within ``seconds``, and goes out in the ``times`` seconds after that."""
    worker.clock.jump(timedelta(seconds=seconds))
    await worker.timers.fire(worker.clock.now())
    for _ in range(times):  # as the relay does
        now = worker.clock.now()
        rows = await worker.store.claim(now, timedelta(0), 100)
        for row in (await worker.store.admit(rows, now, GROUPING.decide)).send:
            sent = answered(started(row.delivery, now), await worker.first.send(row.page), now, RetryPolicy())
            await worker.store.record(row.id, sent)
        worker.clock.jump(timedelta(seconds=1))


async def miss(worker: Worker) -> None:
    """Twenty are let down at once: ten ring, and a group is to tell of ten."""
    for number in range(MANY):
        await worker.read(user(f"c{number}", "crisis", 0), reply(f"c{number}", "sleep tip", 0.1))
    await send(worker, 10, times=1)


async def storm(worker: Worker) -> Group:
    """Its page is out."""
    await miss(worker)
    await send(worker, 10)
    [key] = {page.incident for page in worker.rung if page.group}
    group = await worker.store.group(key)
    assert (group.count, group.told, group.ringing) == (10, 10, True)
    return group


async def damage(worker: Worker, group: Group, body: str = BROKEN) -> None:
    await damage_row(worker.store, "groups", "body", body, "key", group.key)


async def look(worker: Worker, after: timedelta = LOOK) -> None:
    worker.clock.jump(after)
    await worker.groups.look()


def gaps(worker: Worker) -> float:
    return worker.metrics.gaps.labels("unreadable")._value.get()


def told(worker: Worker, kind: Kind) -> list[str]:
    return [page.dedup_key for _, page in worker.first.rung if page.kind is kind and page.group]


async def everybody_is_over(worker: Worker) -> None:
    for number in range(MANY):
        await worker.people.resolve(incident_of(f"c{number}"), "anna", "true_miss")
    await look(worker)
    await send(worker)


async def test_it_rings_on_as_it_rang_and_is_told_of_once(worker):
    before = await storm(worker)
    await damage(worker, before)
    with capture_logs() as logged:
        await look(worker)
        await look(worker)
    now = await worker.store.group(before.key)
    assert (now.unreadable, now.ringing, gaps(worker)) == (False, True, 1)
    kept = ("scope", "opened_at", "level", "outcome", "count", "rings", "told", "told_gravity", "since")
    assert {name: getattr(now, name) for name in kept} == {name: getattr(before, name) for name in kept}
    assert [(one.target, one.route, one.step) for one in now.calls] == [
        (one.target, one.route, one.step) for one in before.calls
    ]
    assert [entry["event"] for entry in logged] == ["group_begun_anew"]
    assert before.key not in str(logged)


async def test_it_ends_at_the_pager_and_its_row_goes_by_age(worker, store):
    group = await storm(worker)
    await damage(worker, group)
    await everybody_is_over(worker)
    assert told(worker, Kind.RESOLVE) == [group.key]
    assert (await store.group(group.key)).state == "resolved"
    assert await store.due_groups(worker.clock.now() + timedelta(days=9), timedelta(0), 9) == []
    gone = await Erasing(store.database, KEYRING).age_rest(worker.clock.now() + timedelta(days=1))
    assert gone["groups"] == 1
    assert gaps(worker) == 1


async def test_whoever_presses_its_button_takes_all_in_it(worker, store):
    group = await storm(worker)
    await damage(worker, group)
    taken = await worker.groups.acknowledge(group.key, "anna")
    assert (taken.acknowledged_by, gaps(worker)) == ("anna", 1)
    await look(worker)
    assert {one.state for one in await store.members(group.key, limit=99)} == {State.ACKNOWLEDGED}
    await send(worker)
    assert told(worker, Kind.ACKNOWLEDGE) == [group.key]


async def test_until_its_keeper_has_been_there_its_people_ring_by_themselves(worker):
    group = await storm(worker)
    await damage(worker, group)
    before = len(worker.rung)
    await send(worker, 400)
    rung = [page.incident for page in worker.rung[before:] if not page.group or page.incident != group.key]
    assert rung, "the next step of their escalations"


async def test_a_group_that_was_taken_stays_taken_and_takes_nobody_else(worker, store):
    group = await storm(worker)
    await worker.groups.acknowledge(group.key, "anna")
    await damage(worker, group)
    await look(worker)
    now = await store.group(group.key)
    assert (now.state, now.acknowledged_by, gaps(worker)) == ("acknowledged", UNKNOWN, 1)
    assert {one.state for one in await store.members(group.key, limit=99)} == {State.PAGING}
    await everybody_is_over(worker)
    assert told(worker, Kind.RESOLVE) == [group.key]


@pytest.mark.parametrize("column", ["page", "delivery"])
async def test_where_its_pages_are_damaged_too_nobody_joins_it_and_it_ends(worker, store, column):
    group = await storm(worker)
    await damage(worker, group)
    await damage_row(store, "outbox", column, BROKEN, "incident", group.key)
    await look(worker)
    now = await store.group(group.key)
    assert (now.ringing, now.unreadable, gaps(worker)) == (False, False, 1)
    assert {one.state for one in await store.members(group.key, limit=99)} == {State.PAGING}
    await everybody_is_over(worker)
    assert (await store.group(group.key)).state == "resolved"


async def test_a_page_that_has_not_left_yet_leaves(worker, store):
    await miss(worker)
    [(key,)] = await store.database.read(lambda c: c.exec_driver_sql("SELECT key FROM groups").all())
    await damage_row(store, "groups", "body", BROKEN, "key", key)
    group = await store.group(key)
    assert (group.told, group.ringing, group.rings) == (0, True, 1)
    await look(worker)
    await send(worker)
    assert [page.group for page in worker.rung if page.group] == [10]
    assert (await store.group(group.key)).told == 10


async def test_one_of_a_later_release_is_left_to_its_workers(worker, store):
    group = await storm(worker)
    await damage(worker, group, LATER)
    with capture_logs() as logged:
        await look(worker)
    assert [entry["event"] for entry in logged] == ["groups_unreadable"]
    assert gaps(worker) == 0
    [row] = await store.database.read(lambda c: c.exec_driver_sql("SELECT body, due_at FROM groups").all())
    assert (row.body, row.due_at is None) == (LATER, False)


async def test_one_that_makes_no_sense_ends_no_keeper(worker, store):
    group = await storm(worker)
    senseless = codec.GROUPS.encode(replace(group, ashore_at=group.opened_at.replace(tzinfo=None)))
    await damage(worker, group, senseless)
    with capture_logs() as logged:
        await look(worker)
    assert [entry["event"] for entry in logged] == ["group_not_kept"]
