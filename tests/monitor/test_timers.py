"""Time passes: deadlines, escalations and quiet, decided by the clock when we have caught up, and not before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.case import Case
from alerts.incident import State
from detectors.conversation import Conversation
from monitor.reading import ORPHAN_GRACE
from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from monitor.store.work import CaseWrite, Work
from monitor.timers import DUE_AT_ONCE, POLL
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.builders import at
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.until import until
from tests.support.worker import Topic, Worker, hidden, incident_of, reply, user

SECOND = timedelta(seconds=1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def worker(clock):
    worker = Worker(AwayStore(), clock)
    await worker.start()
    yield worker
    await worker.stop()


async def test_no_reply_pages_at_the_deadline(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.wait(59)
    assert worker.rung == []
    await worker.wait(2)
    (page,) = worker.rung
    assert page.outcome == "no_reply"


async def test_who_may_act_at_any_moment_is_not_waited_for_so_long(worker):
    await worker.read(user("c", "imminent", 0))
    await worker.wait(29)
    assert worker.rung == []
    await worker.wait(2)
    assert len(worker.rung) == 1


async def test_a_reply_in_time_stops_the_deadline(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.wait(50)
    await worker.read(reply("c", "good", 50))
    await worker.wait(60)
    assert worker.rung == []


async def test_a_stream_that_never_ends_is_no_reply(worker):
    await worker.read(user("c", "crisis", 0))
    for n in range(40):
        await worker.read(reply("c", "good", 1 + n, message_id="m", final=False, event_id=f"p{n}"))
    await worker.wait(61)
    assert [page.outcome for page in worker.rung] == ["no_reply"]


async def test_silence_proves_nothing_while_a_backlog_is_read(worker):
    await worker.read(user("c", "crisis", 0))
    worker.caught_up = False
    await worker.wait(600)
    assert worker.rung == []
    await worker.read(reply("c", "good", 40))
    worker.caught_up = True
    await worker.wait(10)
    assert worker.rung == []


async def test_a_backlog_that_was_read_past_the_deadline_decides(worker):
    await worker.read(user("c", "crisis", 0))
    worker.caught_up = False
    await worker.wait(600)
    await worker.read(user("other", "hello", 61))
    await worker.wait(2)
    assert worker.rung == [], "an event that is a little late may still come"
    await worker.read(user("other", "hello", 63))
    await worker.wait(2)
    assert [page.outcome for page in worker.rung] == ["no_reply"]


async def test_a_partition_that_is_stuck_is_decided_by_the_clock_after_the_grace(worker, clock):
    """Its records are held, or fail again and again: nobody else takes the case, and no reply can be heard."""
    await worker.read(user("c", "crisis", 0))
    worker.caught_up, worker.stuck = False, clock.now()
    await worker.wait(59)
    assert worker.rung == []
    await worker.wait(ORPHAN_GRACE.total_seconds() + 1)
    assert [page.outcome for page in worker.rung] == ["no_reply"]


async def test_a_hold_that_is_soon_over_decides_nothing(worker, clock):
    """The reply waits in what is read next."""
    await worker.read(user("c", "crisis", 0))
    await worker.wait(55)
    worker.caught_up, worker.stuck = False, clock.now()
    await worker.wait(ORPHAN_GRACE.total_seconds() - 1)
    worker.stuck = None
    await worker.wait(600)
    assert worker.rung == []
    await worker.read(reply("c", "good", 40))
    worker.caught_up = True
    await worker.wait(10)
    assert worker.rung == []


async def test_the_first_batch_after_a_hold_is_decided_by_what_was_read(worker, clock):
    """Until it is done the source still says that it is stuck, and the reply waits in the batch after it."""
    await worker.wait(55)
    worker.caught_up, worker.stuck = False, clock.now()
    clock.jump(timedelta(minutes=5))
    worker.topic.add(user("c", "crisis", 56), reply("c", "good", 57))
    await worker.pipeline.handle(worker.topic.records[:1])
    worker.stuck = None
    await worker.wait(5)
    await worker.pipeline.handle(worker.topic.records[1:])
    await worker.wait(5)
    assert worker.rung == []


async def test_a_batch_in_hand_is_no_silence(worker, clock):
    """Its reply is not folded yet when the timer looks: the watermark must not say that we are past it."""
    await worker.read(user("c", "crisis", 0))
    worker.caught_up = False
    await worker.wait(120)
    clock.jump(2 * SECOND)
    assert await worker.store.due(clock.now(), 1)
    worker.store.before_commit = lambda: worker.timers.fire(clock.now())
    await worker.read(reply("c", "good", 30), user("other", "hello", 110))
    await worker.wait(5)
    assert worker.rung == []


async def test_a_producer_whose_clock_runs_ahead_makes_no_deadline_fall(worker):
    await worker.read(user("c", "crisis", 0))
    worker.caught_up = False
    await worker.read(user("other", "hello", 7200))
    await worker.wait(30)
    assert worker.rung == []


async def test_a_case_without_a_reader_is_decided_after_the_grace(clock):
    """Its worker is dead, and nobody has its partition."""
    store = MemoryStore()
    dead = Worker(store, clock)
    await dead.read(user("c", "crisis", 0))
    other = Worker(store, clock, topic=Topic(("turns", 1)))
    await other.start()
    await other.wait(60 + ORPHAN_GRACE.total_seconds() - 1)
    assert other.rung == []
    await other.wait(2)
    assert [page.outcome for page in other.rung] == ["no_reply"]
    await other.stop()


async def test_after_a_restart_the_group_gets_time_to_form(clock):
    """The reply may wait in the broker, while no partition is ours yet."""
    store = MemoryStore()
    dead = Worker(store, clock)
    await dead.read(user("c", "crisis", 0))
    dead.topic.add(reply("c", "good", 30))
    clock.jump(timedelta(minutes=10))
    worker = Worker(store, clock, topic=dead.topic)
    await worker.timers.fire(clock.now())
    clock.jump(ORPHAN_GRACE - SECOND)
    await worker.timers.fire(clock.now())
    await worker.start()
    await worker.pump()
    await worker.wait(60)
    assert worker.rung == []
    await worker.stop()


async def test_rings_until_somebody_acknowledges(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 1))
    await worker.wait(60 * 16)
    assert [page.step for page in worker.rung] == [0, 1, 2, 3]
    assert [len(worker.first.rung), len(worker.second.rung)] == [2, 2]
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(60 * 60)
    assert len(worker.rung) == 4


async def test_escalation_survives_a_restart(sqlite_url, clock):
    store = SqlStore(sqlite_url, KEYRING)
    before = Worker(store, clock)
    await before.read(user("c", "crisis", 0), reply("c", "sleep tip", 1))
    clock.jump(4 * SECOND)
    await before.timers.fire(clock.now())
    await store.close()

    clock.jump(timedelta(minutes=6))
    again = SqlStore(sqlite_url, KEYRING)
    worker = Worker(again, clock, topic=before.topic)
    await worker.join()
    await worker.timers.fire(clock.now())
    await worker.start()
    await until(lambda: len(worker.rung) == 2)
    assert sorted(page.step for page in worker.rung) == [0, 1]
    assert {page.dedup_key for page in worker.rung} == {incident_of("c")}
    await worker.people.acknowledge(incident_of("c"), "anna")
    clock.jump(timedelta(minutes=30))
    assert await worker.timers.fire(clock.now()) == 0
    await worker.stop()
    await again.close()


async def test_an_episode_that_was_handled_closes_when_it_goes_quiet(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "good", 1))
    await worker.wait(29 * 60)
    assert (await worker.store.incident(incident_of("c"))).state is State.WATCHING
    await worker.wait(2 * 60)
    assert (await worker.store.incident(incident_of("c"))).state is State.CLOSED
    assert worker.rung == []


async def test_cases_of_others_do_not_stand_in_the_way_of_ours(worker, clock):
    """More of them than are looked at in one round, all due before ours."""
    crowd = [
        CaseWrite(Case(Conversation(f"x{n}")), ("turns", 9), at(58)) for n in range(2 * DUE_AT_ONCE + 10)
    ]
    await worker.store.commit(Work(cases=crowd))
    await worker.read(user("c", "crisis", 0))
    await worker.wait(63)
    assert len(worker.rung) == 1


async def test_a_case_that_cannot_be_decided_yet_lets_the_others_pass(worker):
    await worker.read(*(user(f"c{n}", "crisis", n / 10) for n in range(50)))
    worker.caught_up = False
    await worker.wait(120)
    assert worker.rung == []
    worker.caught_up = True
    await worker.wait(3)
    assert len(worker.rung) == 50


async def test_a_case_that_breaks_stops_no_other(clock):
    class Broken(MemoryStore):
        broken = False

        async def cases(self, conversations):
            if self.broken and hidden("bad") in conversations:
                raise KeyError("a row of another release")
            return await super().cases(conversations)

    worker = Worker(store := Broken(), clock)
    await worker.start()
    await worker.read(user("bad", "crisis", 0), user("c", "crisis", 1))
    store.broken = True
    await worker.wait(65)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    await worker.stop()


async def test_what_others_must_decide_is_not_asked_for_all_the_time(worker, clock):
    asked = 0
    due = worker.store.due

    async def counted(now, limit):
        nonlocal asked
        asked += 1
        return await due(now, limit)

    worker.store.due = counted
    await worker.store.commit(Work(cases=[CaseWrite(Case(Conversation("x")), ("turns", 9), at(1))]))
    await worker.wait(12)
    assert asked <= 12 / POLL.total_seconds() + 8


async def test_two_workers_page_once(clock):
    store = MemoryStore()
    one, other = Worker(store, clock), Worker(store, clock, topic=Topic(("turns", 1)))
    await one.start()
    await other.start()
    await one.read(user("c", "crisis", 0))
    await one.wait(120)
    assert len(one.rung) + len(other.rung) == 1
    await one.stop()
    await other.stop()


async def test_a_slow_reader_is_not_overtaken_by_another_worker(clock):
    """It knows that it is behind; the other only knows the clock."""
    store = MemoryStore()
    slow, other = Worker(store, clock), Worker(store, clock, topic=Topic(("turns", 1)))
    await slow.start()
    await other.start()
    await slow.read(user("c", "crisis", 0))
    slow.caught_up = False
    await slow.wait(300)
    assert slow.rung + other.rung == []
    await slow.stop()
    await other.stop()


async def test_deadlines_are_counted_once(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.wait(120)
    metrics = worker.metrics.registry
    labels = {"outcome": "no_reply", "level": "active_ideation", "track": "production", "basis": "live"}
    assert metrics.get_sample_value("jiezhu_safety_misses_total", labels) == 1
    assert metrics.get_sample_value("jiezhu_deadline_delay_seconds_count") == 1


async def test_timers_outlive_a_database_that_is_away(worker):
    worker.store.away = EVERYTHING
    await worker.wait(5)
    worker.store.away = frozenset()
    await worker.wait(2)
    await worker.read(user("c", "crisis", 7))
    await worker.wait(62)
    assert len(worker.rung) == 1
