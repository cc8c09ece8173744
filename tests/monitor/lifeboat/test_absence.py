"""The database is away: pages go out without it, nothing is lost afterwards, and nothing is sent twice."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.delivery import State as Delivered
from alerts.incident import State
from monitor.errors import StoreUnavailable
from tests.support.absences import find, lose, miss, seconds
from tests.support.away_store import EVERYTHING, NOTHING, WRITES, AwayStore
from tests.support.fake_pager import BROKEN, Hang
from tests.support.worker import PARTITION, Worker, hidden, incident_of, reply, user


async def test_a_crisis_pages_within_seconds_and_says_why(worker):
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(4)
    (page,) = worker.rung
    assert (page.degraded, page.outcome) == (True, "unhandled")
    assert worker.up == [False]


async def test_it_is_noticed_with_the_first_batch(worker):
    worker.store.away = EVERYTHING
    await miss(worker, "c")
    assert worker.lifeboat.aboard


async def test_reading_goes_on_and_no_position_moves(worker):
    await worker.read(user("c", "hello", 0))
    await lose(worker)
    for n in range(5):
        await worker.read(user(f"c{n}", "hello", n))
    assert worker.next == 6
    assert worker.reading.positions == {PARTITION: 1}


@pytest.mark.parametrize("committed", [1, 0, None], ids=["as the database", "behind it", "never"])
async def test_a_rebalance_meanwhile_stops_no_reading(worker, committed):
    """What the database knew of a partition went with it; the broker knows something that is not beyond."""
    await worker.read(user("c", "hello", 0))
    await lose(worker)
    await worker.pipeline.revoked([PARTITION])
    worker.topic.committed = committed
    await worker.join()
    await miss(worker, "d")
    await worker.wait(4)
    assert [(page.incident, page.degraded) for page in worker.rung] == [(incident_of("d"), True)]
    await find(worker)
    await worker.wait(20)
    assert len(worker.rung) == 1
    assert await worker.store.positions([PARTITION]) == {PARTITION: 3}
    assert [row.page.incident for row in worker.store.notifications()] == [incident_of("d")]
    assert (await worker.store.incident(incident_of("d"))).state is State.PAGING


@pytest.mark.parametrize("committed", [2, 1])
async def test_so_does_a_worker_that_is_given_partitions_meanwhile(worker, clock, committed):
    """It goes on where another was; a batch that is written before anybody notices is void where that was too early."""
    await worker.read(user("c", "hello", 0), user("e", "hello", 0))
    other = Worker(worker.store, clock, topic=worker.topic)
    await lose(worker)
    await worker.stop()
    other.topic.committed = committed
    await other.start()
    worker.store.away = NOTHING
    await miss(other, "d")
    await other.wait(4)
    assert [page.incident for page in other.rung] == [incident_of("d")]
    assert await worker.store.positions([PARTITION]) == {PARTITION: 4}
    await other.stop()


async def test_what_was_said_before_counts(worker):
    """The crisis is in the database, its reply comes when that is away."""
    await worker.read(user("c", "crisis", 0))
    await lose(worker)
    await worker.read(reply("c", "sleep tip", 1))
    await worker.wait(4)
    assert [page.incident for page in worker.rung] == [incident_of("c")]


async def test_deadlines_still_fall(worker):
    await worker.read(user("c", "crisis", 0))
    await lose(worker)
    await worker.read(user("d", "crisis", 1))
    await worker.wait(62)
    assert sorted(page.incident for page in worker.rung) == sorted([incident_of("c"), incident_of("d")])
    assert {page.outcome for page in worker.rung} == {"no_reply"}


async def test_a_reply_that_was_heard_without_the_database_is_no_silence_afterwards(worker):
    """The timers see the database again before everything is read once more."""
    await worker.read(user("c", "crisis", 0))
    await lose(worker)
    await worker.read(reply("c", "good", 1))
    await worker.wait(300)
    worker.store.away = NOTHING
    await worker.timers.fire(worker.clock.now())
    await worker.wait(10)
    assert worker.rung == []
    assert (await worker.store.incident(incident_of("c"))).outcome.value == "handled"


async def test_afterwards_everything_is_read_again_and_nothing_sent_twice(worker):
    await lose(worker)
    await miss(worker, "c")
    await miss(worker, "d")
    await worker.wait(5)
    assert len(worker.rung) == 2
    await find(worker)
    await worker.wait(20)
    assert len(worker.rung) == 2
    assert await worker.store.positions([PARTITION]) == {PARTITION: 4}
    rows = worker.store.notifications()
    assert {(row.delivery.state, row.delivery.accepted_by) for row in rows} == {(Delivered.ACCEPTED, "first")}
    assert (await worker.store.incident(incident_of("c"))).state is State.PAGING
    assert worker.up == [False, True]


async def test_a_batch_that_comes_when_the_database_is_back_jumps_over_nothing(worker):
    """Between the database's return and our noticing, a commit would succeed, and move the position too far."""
    await lose(worker)
    await worker.read(user("c", "crisis", 2))
    worker.store.away = NOTHING
    await worker.read(user("other", "hello", 3))
    await worker.wait(62)
    assert (await worker.store.incident(incident_of("c"))) is not None
    assert [page.incident for page in worker.rung] == [incident_of("c")]


async def test_while_aboard_the_database_is_not_asked_batch_by_batch(worker):
    """Each would wait for its time limit."""
    await lose(worker)
    asked = worker.store.asked["cases"]
    for n in range(10):
        await worker.read(user(f"c{n}", "hello", n))
    assert worker.store.asked["cases"] == asked


async def test_a_source_that_did_not_go_back_is_sent_back(worker):
    """Nothing is written past what only memory knew, whatever became of the rewind."""
    await lose(worker)
    await worker.read(user("c", "crisis", 2))
    await worker.lifeboat.close()
    worker.lifeboat._voyage = None
    worker.store.away = NOTHING
    await worker.read(user("other", "hello", 3))
    assert await worker.store.incident(incident_of("c")) is not None
    assert await worker.store.positions([PARTITION]) == {PARTITION: 2}


async def test_a_source_that_could_not_go_back_is_sent_back_a_little_later(worker):
    """No batch need come that would show it."""
    await lose(worker)
    await worker.read(user("c", "crisis", 2))
    tried = 0

    async def rewind() -> None:
        nonlocal tried
        tried += 1
        if tried < 3:
            raise StoreUnavailable("the database does not answer")
        await worker.rewind()

    worker.lifeboat._rewind = rewind
    worker.store.away = NOTHING
    await worker.wait(62)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    assert tried == 3


async def test_what_nobody_accepted_is_sent_by_the_relay(worker):
    worker.first.then = worker.second.then = BROKEN
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(5)
    worker.first.mend()
    worker.second.mend()
    await find(worker)
    await worker.wait(40)
    (row,) = worker.store.notifications()
    assert row.delivery.state is Delivered.ACCEPTED


async def test_a_request_that_hangs_does_not_keep_us_aboard(worker):
    worker.first.then = Hang()
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(3)
    worker.store.away = NOTHING
    await worker.wait(6)
    assert not worker.lifeboat.aboard


async def test_away_twice(worker):
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(4)
    await find(worker)
    await lose(worker)
    await miss(worker, "d")
    await worker.wait(4)
    await find(worker)
    await worker.wait(30)
    assert [page.incident for page in worker.rung] == [incident_of("c"), incident_of("d")]
    assert worker.up == [False, True, False, True]
    assert await worker.store.positions([PARTITION]) == {PARTITION: 4}


async def test_away_again_before_everything_was_read_again(worker):
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(4)
    worker.store.away = EVERYTHING - {"ping"}
    await worker.wait(30)
    await miss(worker, "d")
    await worker.wait(10)
    assert [page.incident for page in worker.rung] == [incident_of("c"), incident_of("d")]
    await find(worker)
    await worker.wait(90)
    assert await worker.store.positions([PARTITION]) == {PARTITION: 4}
    assert len(worker.rung) == 2


async def test_a_database_that_takes_no_writes_is_not_trusted_each_second(worker):
    """A full disk answers a ping. What must be read again grows; so does the time in which it can be."""
    worker.store.away = WRITES
    await miss(worker, "c")
    for _ in range(60):
        await worker.wait(2)
        await worker.read(user("other", "hello", seconds(worker)))
    assert worker.up.count(False) < 12
    await miss(worker, "d")
    await worker.wait(4)
    assert {page.incident for page in worker.rung} == {incident_of("c"), incident_of("d")}
    await find(worker)
    await worker.wait(90)
    assert await worker.store.positions([PARTITION]) == {PARTITION: len(worker.topic.records)}


async def test_away_at_the_start(clock):
    worker = Worker(AwayStore(), clock)
    worker.store.away = EVERYTHING - {"positions"}
    await worker.start()
    await miss(worker, "c")
    await worker.wait(4)
    assert [page.degraded for page in worker.rung] == [True]
    await find(worker)
    await worker.wait(10)
    assert len(worker.rung) == 1
    assert (await worker.store.incident(incident_of("c"))) is not None
    await worker.stop()


async def test_what_was_acknowledged_does_not_ring_again(worker):
    """By somebody else: another worker, or the command line."""
    await miss(worker, "c")
    await worker.wait(4)
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(10)
    await lose(worker)
    await worker.wait(60 * 20)
    assert len(worker.rung) == 1


async def test_what_the_timers_paged_does_not_ring_again(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.wait(70)
    assert len(worker.rung) == 1
    await lose(worker)
    await worker.wait(60)
    assert len(worker.rung) == 1


async def test_what_the_timers_paged_just_now_does_not_ring_again(worker):
    """However lately open cases were asked for."""
    await worker.read(user("c", "crisis", 0))
    while not worker.rung:
        await worker.wait(0.1)
    asked = worker.store.asked["due"]
    worker.store.away = EVERYTHING
    await worker.wait(60)
    assert asked
    assert worker.up == [False]
    assert [page.step for page in worker.rung] == [0]


async def test_who_was_called_again_meanwhile_is_not_called_by_the_timers_before_we_are_ashore(worker):
    """The database is back, and a long write of somebody else keeps us aboard."""
    await miss(worker, "c")
    await worker.wait(290)
    await lose(worker)
    await worker.wait(20)
    assert [page.step for page in worker.rung] == [0, 1]
    worker.store.away = frozenset({"probe"})
    await worker.wait(20)
    await find(worker)
    assert worker.up == [False, True]
    assert [page.step for page in worker.rung] == [0, 1]


async def test_open_cases_are_known_after_a_restart(clock):
    before = Worker(AwayStore(), clock)
    await before.read(user("c", "crisis", 0))
    worker = Worker(before.store, clock, topic=before.topic)
    await worker.start()
    await worker.wait(10)
    await lose(worker)
    await worker.wait(60)
    assert [page.incident for page in worker.rung] == [incident_of("c")]
    await worker.stop()


async def test_calls_go_on_where_nobody_answers(worker):
    """An hour of calls without the database must not be made up for by an hour of silence."""
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(60 * 60)
    without = len(worker.rung)
    assert without == 12
    await find(worker)
    await worker.wait(60 * 16)
    assert len(worker.rung) - without == 3


async def silent_in_the_absence(worker: Worker) -> None:
    """Called for want of a reply, though one was said in time: it is read when the database is back."""
    await worker.read(user("c", "crisis", 0))
    await lose(worker)
    await worker.wait(62)
    assert [page.outcome for page in worker.rung] == ["no_reply"]
    await worker.read(reply("c", "good", 5))
    await find(worker)
    assert (await worker.store.incident(incident_of("c"))).state is State.WATCHING


async def test_a_later_miss_of_the_same_episode_is_no_call_that_went_out(worker):
    await silent_in_the_absence(worker)
    await worker.wait(60 * 5)
    await miss(worker, "c")
    await worker.wait(10)
    assert [page.outcome for page in worker.rung] == ["no_reply", "unhandled"]
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(60 * 20)
    assert len(worker.rung) == 2


async def test_neither_is_one_whose_turn_was_heard_and_not_judged_before_the_database_was_back(worker):
    await worker.read(user("c", "crisis", 0))
    await lose(worker)
    await worker.wait(62)
    await worker.read(reply("c", "good", 5), user("c", "crisis", seconds(worker)))
    await find(worker)
    await worker.wait(70)
    assert [page.outcome for page in worker.rung] == ["no_reply", "no_reply"]


async def test_whoever_talks_on_after_the_call_is_not_called_for_twice(worker):
    await lose(worker)
    for _ in range(3):
        await miss(worker, "c")
        await worker.wait(10)
    await find(worker)
    await worker.wait(30)
    assert len(worker.rung) == 1
    assert (await worker.store.incident(incident_of("c"))).state is State.PAGING


async def test_decisions_are_counted_when_they_are_written(worker):
    await lose(worker)
    await worker.read(user("c", "crisis", 1))
    await worker.wait(70)
    misses = "jiezhu_safety_misses_total"
    labels = {"outcome": "no_reply", "level": "active_ideation", "track": "production", "basis": "live"}
    assert worker.metrics.registry.get_sample_value(misses, labels) == 0
    await find(worker)
    await worker.wait(5)
    assert worker.metrics.registry.get_sample_value(misses, labels) == 1


async def test_no_word_stays_in_memory(worker):
    await lose(worker)
    await worker.read(user("c", "crisis|canary", 1), reply("c", "sleep tip|canary", 2))
    await worker.wait(timedelta(seconds=4).total_seconds())
    assert worker.rung
    assert await worker.lifeboat.board().store.excerpts(incident_of("c")) == []


async def test_nothing_is_kept_at_hand_of_somebody_who_was_forgotten(worker):
    await miss(worker, "c")
    await miss(worker, "d")
    await worker.wait(4)
    worker.lifeboat.forget([hidden("c")])
    kept = {write.case.conversation.key for write in worker.lifeboat._recent}
    assert kept == {hidden("d")}


async def test_what_went_out_without_the_database_is_not_taken_for_what_comes_after_forgetting(worker):
    await lose(worker)
    await miss(worker, "c")
    await worker.wait(4)
    await find(worker)
    assert any(note.startswith(incident_of("c")) for note in worker.lifeboat._settled)
    worker.lifeboat.forget([hidden("c")])
    assert not any(note.startswith(incident_of("c")) for note in worker.lifeboat._settled)
