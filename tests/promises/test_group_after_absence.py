"""A storm while the database is away: its group stays open at the pager until everybody in it was looked after."""

from __future__ import annotations

import pytest

from alerts.group import LOOK
from alerts.incident import State
from alerts.page import Kind
from monitor.errors import StoreUnavailable
from monitor.store.work import Work
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.form import Tell
from tests.support.storms import GROUPING
from tests.support.worker import Worker, incident_of, reply, user

pytestmark = pytest.mark.promise

MANY = 60
AWAY = 50  # seconds, and more than ``LOOK``
LATE = 200  # until everything is read again, where that takes its time


@pytest.mark.parametrize("read_again_after", [0, LATE])
async def test_a_group_outlives_the_absence(read_again_after: int, tell: Tell) -> None:
    assert LOOK.total_seconds() < AWAY
    worker = Worker(AwayStore(), FakeClock(), grouping=GROUPING)
    await worker.start()
    await _miss(worker, ["before"], 0)
    await worker.wait(10)
    worker.store.away = EVERYTHING
    await worker.wait(1)
    people = [f"c{number}" for number in range(MANY)]
    await _miss(worker, people, 12)
    await worker.wait(AWAY)
    if read_again_after:
        worker.lifeboat._rewind = worker.join
    worker.store.away = frozenset()
    await worker.wait(8 + read_again_after)
    await worker.pump()
    await worker.wait(90)
    [key] = {page.incident for page in worker.rung if page.group}
    updates = [page for page in worker.first.got if page.kind in (Kind.ACKNOWLEDGE, Kind.RESOLVE)]
    states = {(await worker.store.incident(incident_of(name))).state for name in people}
    listed = {one.key for one in await worker.store.members(key, limit=1000)}
    singles = {page.incident for page in worker.rung if not page.group}
    tell(
        4,
        "a group after an absence",
        f"{MANY} people, {AWAY} s away, read again after {read_again_after} s: {len(updates)} closed, "
        f"{len({incident_of(name) for name in people} - listed - singles)} not told of",
    )
    assert states == {State.PAGING}
    assert updates == []
    assert listed | singles >= {incident_of(name) for name in people}
    for incident in listed:
        await worker.people.resolve(incident, "anna", None)
    await worker.wait(2 * LOOK.total_seconds())
    assert key in {page.dedup_key for page in worker.first.got if page.kind is Kind.RESOLVE}
    await worker.stop()


class OneRefused(AwayStore):
    """Does not take the first work with groups in it."""

    refused = False

    async def commit(self, work: Work) -> None:
        if work.groups and not self.refused:
            self.refused = True
            raise StoreUnavailable("the database does not answer")
        await super().commit(work)


async def test_whoever_waits_for_a_reply_is_read_again_though_the_group_could_not_be_written() -> None:
    """Until then nothing of a partition that was read ahead falls due."""
    store = OneRefused()
    worker = Worker(store, FakeClock(), grouping=GROUPING)
    await worker.start()
    store.away = EVERYTHING
    await worker.wait(1)
    await _miss(worker, [f"c{number}" for number in range(MANY)], 2)
    await worker.wait(8)
    await worker.read(user("waiting", "crisis", 10))
    store.away = frozenset()
    await worker.wait(75)
    assert store.refused
    assert incident_of("waiting") in {page.incident for page in worker.rung}
    [key] = {page.incident for page in worker.rung if page.group}
    assert await store.members(key, limit=1000)
    await worker.stop()


async def _miss(worker: Worker, names: list[str], seconds: float) -> None:
    said = [(user(name, "crisis", seconds), reply(name, "sleep tip", seconds + 0.1)) for name in names]
    await worker.read(*(value for pair in said for value in pair))
