"""The database answers and takes no writes: its disk is full, or they hang."""

from __future__ import annotations

from alerts.incident import State
from monitor.errors import StoreUnavailable
from monitor.store.work import Work
from tests.support.absences import find, miss, seconds
from tests.support.away_store import EVERYTHING, NOTHING, WRITES, AwayStore
from tests.support.worker import PARTITION, Worker, incident_of, reply, user


class HalfHeard(AwayStore):
    """What is committed stands, and whoever commits is told that it was given up."""

    half_heard = False

    async def commit(self, work: Work) -> None:
        await super().commit(work)
        if self.half_heard:
            raise StoreUnavailable("the database did not answer")


async def find_room(worker: Worker) -> None:
    worker.store.full = False
    await worker.wait(30)
    assert await worker.store.positions([PARTITION]) == {PARTITION: len(worker.topic.records)}


async def test_a_deadline_falls_though_the_disk_is_full_and_nobody_says_anything(worker):
    """It answers a ping, and no batch comes that would show what is wrong."""
    await worker.read(user("c", "crisis", 0))
    await worker.wait(10)
    worker.store.full = True
    await worker.wait(60)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    assert worker.up == [False]
    worker.store.full = False
    await worker.wait(90)
    assert len(worker.rung) == 1
    assert (await worker.store.incident(incident_of("c"))).state is State.PAGING
    assert worker.up == [False, True]


async def test_a_deadline_falls_though_writes_hang_and_nobody_says_anything(worker):
    """It answers every question and gives no reason why nothing is written."""
    await worker.read(user("c", "crisis", 0))
    await worker.wait(10)
    worker.store.away = WRITES | {"probe"}
    await worker.wait(55)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    assert worker.up == [False]
    worker.store.away = NOTHING
    await worker.wait(90)
    assert len(worker.rung) == 1
    assert (await worker.store.incident(incident_of("c"))).state is State.PAGING
    assert worker.up == [False, True]


async def test_while_writes_hang_one_absence_lasts_as_long_as_they_do(worker):
    await worker.read(user("c", "crisis", 0))
    worker.store.away = WRITES | {"probe"}
    await worker.wait(60 * 20)
    assert {page.incident for page in worker.rung} == {incident_of("c")}
    assert [page.step for page in worker.rung] == [0, 1, 2, 3]
    assert worker.up == [False]


async def test_a_call_that_was_written_though_nobody_was_told_goes_out(clock):
    """A server that waits for its standby commits what we have given up: the case looks as if somebody rang."""
    worker = Worker(HalfHeard(), clock)
    await worker.start()
    await worker.read(user("c", "crisis", 0))
    await worker.wait(10)
    worker.store.away = frozenset({"claim", "admit", "record", "probe"})
    worker.store.half_heard = True
    await worker.wait(60)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    await worker.stop()


async def test_a_worker_that_starts_while_writes_hang_knows_what_is_open(clock):
    before = Worker(AwayStore(), clock)
    await before.read(user("c", "crisis", 0), user("d", "crisis", 0))
    before.store.away = WRITES | {"probe"}
    worker = Worker(before.store, clock, topic=before.topic)
    await worker.start()
    await worker.read(user("e", "crisis", 1), reply("e", "sleep tip", 2))
    await worker.wait(5)
    await worker.read(reply("d", "sleep tip", 6))
    await worker.wait(60)
    assert {page.incident: page.outcome for page in worker.rung} == {
        incident_of("c"): "no_reply",
        incident_of("d"): "unhandled",
        incident_of("e"): "unhandled",
    }
    await worker.stop()


async def test_a_deadline_is_told_once_where_writes_fail_before_all_else_does(worker):
    await worker.read(user("c", "crisis", 0))
    worker.store.away = WRITES
    await worker.wait(61)
    worker.store.away = EVERYTHING
    await worker.wait(60)
    await find(worker)
    await worker.wait(60)
    assert [page.incident for page in worker.rung] == [incident_of("c")]


async def test_while_the_disk_is_full_nothing_is_read_again(worker):
    """What is to be read again grows: with a real encoder it would hold up what is said now."""
    worker.store.full = True
    await miss(worker, "c")
    loaded = worker.store.asked["positions"]
    for _ in range(60):
        await worker.wait(2)
        await worker.read(user("other", "hello", seconds(worker)))
    assert worker.store.asked["positions"] == loaded
    assert worker.up == [False]
    worker.store.full = False
    await worker.wait(5)
    assert await worker.store.positions([PARTITION]) == {PARTITION: len(worker.topic.records)}
    assert len(worker.rung) == 1


async def test_a_long_write_of_somebody_else_is_no_absence(worker):
    worker.store.away = frozenset({"probe"})
    await worker.wait(60)
    assert worker.up == []


async def test_neither_is_one_that_is_over_before_anything_is_due(worker):
    await worker.read(user("c", "crisis", 0))
    worker.store.away = WRITES | {"probe"}
    await worker.wait(50)
    worker.store.away = NOTHING
    await worker.wait(20)
    assert worker.up == []
    assert [page.degraded for page in worker.rung] == [False]


async def test_a_worker_that_starts_on_a_full_disk_knows_what_is_open(clock):
    before = Worker(AwayStore(), clock)
    await before.read(user("c", "crisis", 0), user("d", "crisis", 0))
    before.store.full = True
    worker = Worker(before.store, clock, topic=before.topic)
    await worker.start()
    await worker.wait(5)
    await worker.read(reply("d", "sleep tip", 6))
    await worker.wait(60)
    assert {page.incident: page.outcome for page in worker.rung} == {
        incident_of("c"): "no_reply",
        incident_of("d"): "unhandled",
    }
    await find_room(worker)
    assert len(worker.rung) == 2
    await worker.stop()


async def test_what_the_timers_paged_just_now_does_not_ring_again_when_the_disk_is_full(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.wait(61)
    assert len(worker.rung) == 1
    worker.store.full = True
    await worker.wait(60)
    assert len(worker.rung) == 1


async def test_a_full_disk_that_goes_away_altogether(worker):
    worker.store.full = True
    await worker.read(user("c", "crisis", 0))
    await worker.wait(3)
    worker.store.away = EVERYTHING
    await worker.wait(60)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    worker.store.away = NOTHING
    await find_room(worker)
    assert len(worker.rung) == 1
