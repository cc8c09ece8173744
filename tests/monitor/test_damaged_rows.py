"""One row that cannot be read takes no other with it, wherever several are read at once; and whoever asks is told of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from alerts.incident import State
from alerts.storm import Admitted
from monitor.errors import KeyMissing
from monitor.store.burials import Burial
from monitor.store.erasing import Erasing
from monitor.store.records import Records
from monitor.store.sql import SqlStore
from monitor.store.work import AuditRow, Work
from tests.contract.baselines_contract import a_baseline
from tests.contract.store_contract import an_excerpt
from tests.support.cases import NOW
from tests.support.damage import BROKEN, LATER, damage_row
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.storms import GROUPING
from tests.support.worker import Worker, hidden, incident_of, reply, user

DAY = timedelta(days=1)


@pytest.fixture
async def store(url):
    store = SqlStore(url, KEYRING)
    yield store
    await store.close()


@pytest.fixture
def worker(store):
    return Worker(store, FakeClock(), grouping=GROUPING)


async def damage(store: SqlStore, name: str, *, case: bool = False, body: str = BROKEN) -> None:
    await damage_row(store, "incidents", "body", body, "key", incident_of(name))
    if case:
        await damage_row(store, "cases", "body", body, "conversation", hidden(name))


async def miss(worker: Worker, *names: str) -> None:
    values = [value for name in names for value in (user(name, "crisis", 0), reply(name, "sleep tip", 0.1))]
    await worker.read(*values)
    worker.clock.jump(timedelta(seconds=10))
    await worker.timers.fire(worker.clock.now())


async def admit(worker: Worker) -> Admitted:
    """As the relay does."""
    now = worker.clock.now()
    rows = await worker.store.claim(now, timedelta(0), 100)
    return await worker.store.admit(rows, now, GROUPING.decide)


async def storm(worker: Worker) -> str:
    """Twenty are let down at once, ten of whom a group tells of."""
    await miss(worker, *(f"c{number}" for number in range(20)))
    [group] = (await admit(worker)).groups
    return group.key


async def first_member(worker: Worker, key: str) -> str:
    [member] = await worker.store.members(key, limit=1)
    return next(f"c{number}" for number in range(20) if incident_of(f"c{number}") == member.key)


@pytest.mark.parametrize("body", [BROKEN, LATER], ids=["damaged", "two releases ahead"])
async def test_the_list_has_the_others_and_says_that_one_cannot_be_read(worker, store, body):
    await miss(worker, "a", "bad", "c")
    await damage(store, "bad", case=True, body=body)
    listed = {one.key: one for one in await store.incidents(open_only=True, limit=10)}
    assert set(listed) == {incident_of(name) for name in ("a", "bad", "c")}
    bad = listed.pop(incident_of("bad"))
    assert (bad.state, bad.unreadable) == (State.PAGING, True), "as the trail has it"
    assert {one.unreadable for one in listed.values()} == {False}


async def test_what_its_case_still_knows_is_told_in_full(worker, store):
    await miss(worker, "bad")
    [before] = await store.incidents(open_only=True, limit=10)
    await damage(store, "bad")
    assert await store.incidents(open_only=True, limit=10) == [before]


async def test_one_that_is_over_stays_over(worker, store):
    await miss(worker, "bad")
    await worker.people.resolve(incident_of("bad"), "anna", "true_miss")
    await damage(store, "bad", case=True)
    [bad] = await store.incidents(open_only=False, limit=10)
    assert (bad.state, bad.unreadable) == (State.CLOSED, True)
    assert await store.incidents(open_only=True, limit=10) == []


@pytest.mark.parametrize("case", [False, True], ids=["its case knows it", "its case is damaged, too"])
async def test_who_takes_a_group_with_such_a_member_takes_the_others(worker, store, case):
    key = await storm(worker)
    await damage(store, await first_member(worker, key), case=case)
    assert len(await store.members(key, limit=100)) == 10
    assert await worker.groups.acknowledge(key, "anna")
    await worker.groups.look()
    members = await store.members(key, limit=100)
    assert {one.state for one in members} == {State.ACKNOWLEDGED}
    assert (await store.group(key)).settled


async def test_a_group_whose_member_is_of_a_later_release_keeps_nobody_from_the_next(worker, store):
    key = await storm(worker)
    await damage(store, await first_member(worker, key), body=LATER)
    worker.clock.jump(timedelta(minutes=1))
    with capture_logs() as logged:
        await worker.groups.look()
    assert "group_not_kept" in [entry["event"] for entry in logged]
    assert (await store.group(key)).ringing, "nobody guesses that they are in hand"


async def test_a_damaged_group_stops_no_page(worker, store):
    key = await storm(worker)
    await damage_row(store, "groups", "body", BROKEN, "key", key)
    with capture_logs() as logged:
        await miss(worker, "late")
        admitted = await admit(worker)
    carried = {changed.row.page.incident for changed in admitted.changed if changed.told_by != key}
    assert incident_of("late") in carried | {row.page.incident for row in admitted.send}
    assert {entry["event"] for entry in logged} == {"groups_unreadable"}
    assert key not in str(logged)


@pytest.mark.parametrize("detail", ["", "[1]", '"told"', '{"told": 7, "lost": [[]]}'])
async def test_a_step_of_the_trail_is_told_of_by_its_columns(store, detail):
    steps = [AuditRow("jz-1-1", NOW, reason, "anna", "paging", {"step": 1}) for reason in ("one", "two")]
    await store.commit(Work(audit=steps))
    await damage_row(store, "audit", "detail", detail, "reason", "one")
    one, two = await store.timeline("jz-1-1")
    assert (one.reason, one.state, two) == ("one", "paging", steps[1])
    assert isinstance(one.detail, dict)
    [found] = await Records(store.database, KEYRING).load(["jz-1-1"], NOW - DAY)
    assert [step.told for step in found.trail] == [(), ()]


async def test_words_that_do_not_open_stand_beside_those_that_do(store):
    rows = [an_excerpt("e-1", text="then"), an_excerpt("e-2", text="now")]
    await store.commit(Work(excerpts=rows))
    await damage_row(store, "excerpts", "event", "e-0", "event", "e-1")
    closed, other = await store.excerpts("jz-1-1")
    assert (closed.event, closed.text, other) == ("e-0", "", rows[1])
    assert "does not open" in closed.closed
    await damage_row(store, "excerpts", "event", "e-3", "event", "e-2")
    with pytest.raises(KeyMissing):
        await store.excerpts("jz-1-1")


@pytest.mark.parametrize("models", ["", "[]", "{"])
async def test_a_baseline_whose_models_are_damaged_is_one_of_no_known_models(store, models):
    assert await store.pin_baseline(a_baseline("bad"))
    assert await store.pin_baseline(a_baseline("good", minutes=1))
    await damage_row(store, "baselines", "models", models, "name", "bad")
    good, bad = await store.baselines()
    assert (good, bad.name, bad.models) == (a_baseline("good", minutes=1), "bad", {})


@pytest.mark.parametrize("detail", ["", "[]", '{"rows": 3}', '{"rows": {"cases": null}}'])
async def test_a_damaged_proof_keeps_nobody_from_being_forgotten(worker, store, detail):
    await worker.read(user("bad", "hello", 0))
    erasing = Erasing(store.database, KEYRING)
    [proof] = await erasing.bury([Burial(hidden("bad"), "conversation", NOW, NOW + DAY, "li")])
    await damage_row(store, "erasures", "detail", detail, "id", proof)
    await erasing.erase(await erasing.page())
    assert await erasing.left() == set()
