"""Groups in a whole worker on a fake clock: who takes one takes its incidents, and one with nobody in it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.delivery import Delivery
from alerts.delivery import State as Delivered
from alerts.group import Group, acknowledged, scope_of
from alerts.incident import State
from alerts.page import Kind
from monitor.errors import CaseConflict, StoreUnavailable
from monitor.group_keeper import EVERYBODY
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.stores import KEYRING
from tests.support.storms import GROUPING, a_row
from tests.support.worker import Worker, incident_of, reply, user

MANY = 60


@pytest.fixture
async def worker():
    worker = Worker(AwayStore(), FakeClock(), grouping=GROUPING)
    await worker.start()
    yield worker
    await worker.stop()


async def miss(worker: Worker, *names: str, seconds: float = 0, text: str = "crisis") -> None:
    values = [
        value
        for name in names
        for value in (user(name, text, seconds), reply(name, "sleep tip", seconds + 0.1))
    ]
    await worker.read(*values)


async def storm(worker: Worker, count: int = MANY) -> str:
    """Let ``count`` people down at once; return the key of the group."""
    await miss(worker, *(f"c{number}" for number in range(count)))
    await worker.wait(10)
    [key] = {page.incident for page in worker.rung if page.group}
    return key


async def states(worker: Worker, count: int = MANY) -> set[State]:
    return {(await worker.store.incident(incident_of(f"c{number}"))).state for number in range(count)}


def told(worker: Worker, kind: Kind) -> list[str]:
    return [page.dedup_key for _, page in worker.first.rung if page.kind is kind]


async def test_the_storm_is_told_of_and_everybody_is_in_the_list_or_was_rung_for(worker):
    """R61."""
    key = await storm(worker)
    singles = {page.incident for page in worker.rung if not page.group}
    members = {one.key for one in await worker.store.members(key, limit=1000)}
    assert singles | members == {incident_of(f"c{number}") for number in range(MANY)}
    assert (len(singles), len(members)) == (10, 50)
    assert [page.group for page in worker.rung if page.group] == [50]


async def test_who_takes_the_group_takes_everybody_in_it(worker):
    key = await storm(worker)
    taken = await worker.groups.acknowledge(key, "anna")
    assert (taken.state, taken.acknowledged_by) == ("acknowledged", "anna")
    await worker.wait(3)
    members = await worker.store.members(key, limit=1000)
    assert {(one.state, one.acknowledged_by) for one in members} == {(State.ACKNOWLEDGED, "anna")}
    assert [key for key in told(worker, Kind.ACKNOWLEDGE) if not key.startswith("jz-group-")] == []
    assert told(worker, Kind.ACKNOWLEDGE) == [key]
    rung = len(worker.rung)
    await worker.wait(280)
    assert len(worker.rung) == rung
    rows = await worker.store.timeline(members[0].key)
    assert [(row.reason, row.actor) for row in rows][-1:] == [("acknowledged", "anna")]


async def test_the_second_to_press_is_told_whose_it_is(worker):
    key = await storm(worker)
    taken = await asyncio.gather(*(worker.groups.acknowledge(key, name) for name in ("anna", "ben")))
    assert len({group.acknowledged_by for group in taken}) == 1
    await worker.wait(5)
    assert told(worker, Kind.ACKNOWLEDGE) == [key]


async def test_nobody_takes_it_so_it_calls_the_next_step_at_its_time(worker):
    key = await storm(worker)
    await worker.wait(300)
    calls = [page for _, page in worker.second.rung if page.group]
    assert [(page.incident, page.group) for page in calls] == [(key, 50)]
    assert {page.incident for _, page in worker.second.rung if not page.group} == {
        page.incident for _, page in worker.first.rung if not page.group
    }


async def test_one_that_was_taken_by_itself_leaves_the_others_ringing(worker):
    key = await storm(worker)
    first = (await worker.store.members(key, limit=1))[0]
    await worker.people.acknowledge(first.key, "anna")
    await worker.wait(300)
    assert (await worker.store.group(key)).ringing
    assert [page.incident for _, page in worker.second.rung if page.group] == [key]


async def test_when_everybody_was_taken_one_by_one_the_pager_is_told(worker):
    key = await storm(worker)
    for one in await worker.store.members(key, limit=1000):
        await worker.people.acknowledge(one.key, "anna")
    await worker.wait(61)
    assert (await worker.store.group(key)).acknowledged_by == EVERYBODY
    assert key in told(worker, Kind.ACKNOWLEDGE)


async def test_when_all_are_over_the_group_is_and_every_key_that_rang_is_resolved(worker):
    key = await storm(worker)
    await worker.wait(30)
    await miss(worker, *(f"d{number}" for number in range(250)), seconds=40)
    await worker.wait(40)
    assert {page.dedup_key for page in worker.rung if page.group} == {key, f"{key}-2"}
    for one in await worker.store.members(key, limit=1000):
        await worker.people.resolve(one.key, "anna", "true_miss")
    await worker.wait(61)
    assert (await worker.store.group(key)).state == "resolved"
    assert set(told(worker, Kind.RESOLVE)) == {key, f"{key}-2"}


async def test_a_page_that_nobody_has_yet_does_not_ring_for_a_group_that_is_over(worker):
    await miss(worker, *(f"c{number}" for number in range(MANY)))
    await worker.wait(3)
    [key] = {row.page.incident for row in worker.store.rows() if row.page.group}
    assert [page for page in worker.rung if page.group] == []
    for one in await worker.store.members(key, limit=1000):
        await worker.people.resolve(one.key, "anna", None)
    await worker.groups.keep(await worker.store.group(key))
    await worker.wait(60)
    assert [page for page in worker.rung if page.group] == []
    [row] = [row for row in worker.store.rows() if row.page.group and row.page.kind is Kind.PAGE]
    assert row.delivery.state is Delivered.ABANDONED


async def test_a_crash_after_the_button_leaves_nobody_ringing(worker):
    key = await storm(worker)
    await worker.groups.acknowledge(key, "anna")
    await worker.stop()
    other = Worker(worker.store, worker.clock, topic=worker.topic, grouping=GROUPING)
    await other.start()
    await other.wait(20)
    members = await other.store.members(key, limit=1000)
    assert {one.state for one in members} == {State.ACKNOWLEDGED}
    await other.stop()


async def test_one_that_somebody_writes_meanwhile_is_taken_a_moment_later(worker):
    key = await storm(worker)

    async def somebody_writes() -> None:
        raise CaseConflict(frozenset({(await worker.store.members(key, limit=1))[0].conversation}))

    taken = await worker.groups.acknowledge(key, "anna")
    worker.store.before_commit = somebody_writes
    assert taken is not None
    await worker.wait(20)
    assert {one.state for one in await worker.store.members(key, limit=1000)} == {State.ACKNOWLEDGED}


async def test_a_database_that_is_away_stops_no_keeper(worker):
    key = await storm(worker)
    worker.store.away = EVERYTHING
    with pytest.raises(StoreUnavailable):
        await worker.groups.look()
    worker.store.away = frozenset()
    await worker.wait(5)
    assert await worker.groups.acknowledge(key, "anna")


async def test_a_rise_after_the_button_rings(worker):
    key = await storm(worker)
    member = (await worker.store.members(key, limit=1))[0]
    name = next(f"c{number}" for number in range(MANY) if incident_of(f"c{number}") == member.key)
    await worker.groups.acknowledge(key, "anna")
    await worker.wait(5)
    await miss(worker, name, seconds=20, text="in_progress")
    await worker.wait(5)
    assert [page.level for page in worker.rung if page.incident == member.key] == ["in_progress"]


async def test_the_next_crisis_of_somebody_in_a_taken_group_rings(worker):
    key = await storm(worker)
    member = (await worker.store.members(key, limit=1))[0]
    name = next(f"c{number}" for number in range(MANY) if incident_of(f"c{number}") == member.key)
    await worker.groups.acknowledge(key, "anna")
    await worker.wait(5)
    await worker.people.resolve(member.key, "anna", "true_miss")
    await worker.wait(1800)
    await miss(worker, name, seconds=1815)
    await worker.wait(5)
    assert incident_of(name, 2) in {page.incident for page in worker.rung}


async def test_a_storm_while_the_database_is_away_is_told_of_and_its_list_is_there_afterwards(worker):
    await miss(worker, "before")
    await worker.wait(10)
    worker.store.away = EVERYTHING
    await worker.wait(1)
    await miss(worker, *(f"c{number}" for number in range(MANY)), seconds=12)
    await worker.wait(15)
    pages = [page for page in worker.rung if page.incident != incident_of("before")]
    groups = [page for page in pages if page.group]
    assert [(page.group, page.degraded) for page in groups] == [(50, True)]
    worker.store.away = frozenset()
    await worker.wait(20)
    [key] = {page.incident for page in worker.rung if page.group}
    members = {one.key for one in await worker.store.members(key, limit=1000)}
    assert len(members) == 50
    assert members | {page.incident for page in pages} >= {
        incident_of(f"c{number}") for number in range(MANY)
    }
    assert len(worker.rung) == len(pages) + 1, "nobody is rung again for what was told"
    await worker.groups.acknowledge(key, "anna")
    await worker.wait(5)
    assert {one.state for one in await worker.store.members(key, limit=1000)} == {State.ACKNOWLEDGED}


async def test_a_ring_that_waits_when_the_database_is_back_leaves_all_the_same(worker):
    await miss(worker, "before")
    await worker.wait(10)
    worker.store.away = EVERYTHING
    await worker.wait(1)
    await miss(worker, *(f"c{number}" for number in range(30)), seconds=12)
    await worker.wait(12)
    assert [page.group for page in worker.rung if page.group] == [20]
    await miss(worker, *(f"d{number}" for number in range(120)), seconds=24)
    await worker.wait(5)
    worker.store.away = frozenset()
    await worker.wait(60)
    assert [page.group for page in worker.rung if page.group] == [20, 140]
    [key] = {page.incident for page in worker.rung if page.group}
    assert (await worker.store.group(key)).told == 140
    assert len(await worker.store.members(key, limit=1000)) == 140


async def test_who_joined_after_the_page_had_left_is_told_of_when_the_database_is_back(worker):
    """Nobody could look at the list meanwhile."""
    await miss(worker, "before")
    await worker.wait(10)
    worker.store.away = EVERYTHING
    await worker.wait(1)
    await miss(worker, *(f"c{number}" for number in range(60)), seconds=12)
    await worker.wait(12)
    await miss(worker, *(f"d{number}" for number in range(10)), seconds=24)
    await worker.wait(5)
    voyage = worker.lifeboat.board()
    told = {row.page.incident for row in voyage.accepted() if not row.page.group}
    assert told >= {incident_of(f"c{number}") for number in range(60)}
    assert not told & {incident_of(f"d{number}") for number in range(10)}
    [group] = voyage.groups().groups
    assert (group.count, group.told) == (50, 50)
    worker.store.away = frozenset()
    await worker.wait(30)
    singles = {page.incident for page in worker.rung if not page.group}
    members = {one.key for one in await worker.store.members(group.key, limit=1000)}
    assert singles | members >= {incident_of(f"{name}{n}") for name in "cd" for n in range(10)}
    assert (await worker.store.group(group.key)).count == len(members)


async def test_the_database_goes_while_a_group_gathers(worker):
    await miss(worker, *(f"c{number}" for number in range(MANY)))
    await worker.wait(4)
    assert [page for page in worker.rung if page.group] == []
    worker.store.away = EVERYTHING
    await worker.wait(5)
    assert [page.group for page in worker.rung if page.group] == [50]
    worker.store.away = frozenset()
    await worker.wait(20)
    assert [page.group for page in worker.rung if page.group] == [50], "once"


async def test_a_ring_that_found_no_place_is_made_up_for(worker):
    key = await storm(worker)
    group = await worker.store.group(key)
    worker.store._grouped.put(replace(group, told=group.count // GROUPING.policy.growth))
    await worker.wait(61)
    assert [page.dedup_key for page in worker.rung if page.group] == [key, f"{key}-2"]
    await worker.wait(61)
    assert len([page for page in worker.rung if page.group]) == 2


class Rising(AwayStore):
    """Somebody's crisis gets graver just after the members of a group were looked at."""

    then: Callable[[], Awaitable[object]] | None = None

    async def members(self, group, **which):
        found = await super().members(group, **which)
        if self.then is not None:
            then, self.then = self.then, None
            await then()
        return found


async def test_a_rise_while_a_group_is_being_taken_is_nobodys_yet():
    worker = Worker(Rising(), FakeClock(), grouping=GROUPING)
    await miss(worker, *(f"c{number}" for number in range(MANY)))
    worker.clock.jump(timedelta(seconds=5))
    await worker.timers.fire(worker.clock.now())
    now = worker.clock.now()
    claimed = await worker.store.claim(now, timedelta(seconds=15), 1000)
    [group] = (await worker.store.admit(claimed, now, GROUPING.decide)).groups
    members = {one.key for one in await worker.store.members(group.key, limit=1000)}
    name = next(name for name in (f"c{n}" for n in range(MANY)) if incident_of(name) in members)

    async def rises() -> None:
        worker.clock.jump(timedelta(seconds=2))
        await miss(worker, name, seconds=7, text="in_progress")
        worker.clock.jump(timedelta(seconds=4))
        await worker.timers.fire(worker.clock.now())

    taken = await worker.groups.acknowledge(group.key, "anna")
    worker.store.then = rises
    await worker.groups.keep(taken)
    incidents = [await worker.store.incident(key) for key in members]
    assert [one.key for one in incidents if one.state is State.PAGING] == [incident_of(name)]


async def test_rows_in_hand_when_the_database_goes_are_told_of_in_few_pages_too(worker):
    worker.store.away = frozenset({"admit", "record"})
    await miss(worker, *(f"c{number}" for number in range(MANY)))
    await worker.wait(4)
    worker.store.away = EVERYTHING
    await worker.wait(10)
    assert len({page.incident for page in worker.rung if not page.group}) <= 20, (
        "the relay and the lifeboat, each its ten"
    )
    assert 1 <= len([page for page in worker.rung if page.group]) <= 2
    worker.store.away = frozenset()
    await worker.wait(60)
    [*_, last] = [page.incident for page in worker.rung if page.group]
    members = {one.key for one in await worker.store.members(last, limit=1000)}
    singles = {page.incident for page in worker.rung if not page.group}
    assert members | singles >= {incident_of(f"c{number}") for number in range(MANY)}


async def test_of_two_groups_that_told_of_somebody_the_newest_counts(url):
    """The first was taken; whoever repeats after that is the second's."""
    store = SqlStore(url, KEYRING)
    old, new = (
        Group(f"jz-group-{n}", scope_of(a_row(1).page), EPOCH, EPOCH, rings=1, told=1, count=1)
        for n in (1, 2)
    )
    told = [
        replace(a_row(1, at, step=step), delivery=Delivery(("anna",), Delivered.CARRIED), told_by=group.key)
        for at, step, group in ((EPOCH, 9, old), (EPOCH + timedelta(minutes=5), 10, new))
    ]
    taken = acknowledged(old, "anna", EPOCH, settled=True)
    now = EPOCH + timedelta(minutes=10)
    await store.commit(Work(groups=[taken, new], notifications=[*told, a_row(1, now, step=11)]))
    claimed = await store.claim(now, timedelta(seconds=15), 10)
    admitted = await store.admit(claimed, now, GROUPING.decide)
    assert [changed.told_by for changed in admitted.changed] == [new.key]
    await store.close()


async def test_on_a_database(url):
    """The whole way once more where it is stored for good."""
    worker = Worker(SqlStore(url, KEYRING), FakeClock(), grouping=GROUPING)
    await miss(worker, *(f"c{number}" for number in range(MANY)))
    worker.clock.jump(timedelta(seconds=4))
    await worker.timers.fire(worker.clock.now())
    now = worker.clock.now()
    claimed = await worker.store.claim(now, timedelta(seconds=15), 1000)
    admitted = await worker.store.admit(claimed, now, GROUPING.decide)
    [group] = admitted.groups
    assert len(await worker.store.members(group.key, limit=1000)) == group.count == 50
    assert await worker.store.due_groups(now, timedelta(seconds=15), 8) == []
    await worker.groups.acknowledge(group.key, "anna")
    await worker.groups.look()
    members = await worker.store.members(group.key, limit=1000)
    assert {one.state for one in members} == {State.ACKNOWLEDGED}
    for one in members:
        await worker.people.resolve(one.key, "anna", "true_miss")
    worker.clock.jump(timedelta(seconds=31))
    await worker.groups.look()
    assert (await worker.store.group(group.key)).state == "resolved"
    assert await worker.store.members(group.key, limit=1, open_only=True) == []
    await worker.store.close()
