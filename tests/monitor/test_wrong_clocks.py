"""An app whose clock is hours behind or ahead: nobody is taken for unanswered who is not, and nobody is forgotten."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from tests.support.builders import at
from tests.support.fake_clock import FakeClock
from tests.support.worker import PARTITION, Worker, incident_of, reply, user

HOURS = 6 * 3600


@pytest.fixture
async def worker():
    """It has read to the end for a while when a test begins."""
    worker = Worker(MemoryStore(), FakeClock())
    await worker.start()
    await worker.wait(3)
    yield worker
    await worker.stop()


@pytest.mark.parametrize("off", [-HOURS, -90, 90, HOURS])
@pytest.mark.parametrize("neighbour", [True, False], ids=["beside one that is right", "alone"])
async def test_who_is_answered_in_time_pages_nobody(worker, off, neighbour):
    await worker.read(user("c", "crisis", 3 + off), *([user("other", "hello", 3)] if neighbour else []))
    await worker.wait(20)
    await worker.read(*([user("other", "hello", 23)] if neighbour else []))
    assert worker.rung == []
    await worker.read(reply("c", "good", 23 + off))
    await worker.wait(120)
    assert worker.rung == []


@pytest.mark.parametrize("off", [-HOURS, -90, 90, HOURS])
async def test_who_is_not_answered_is_paged_for_at_the_deadline(worker, off):
    await worker.read(user("c", "crisis", 3 + off))
    await worker.wait(58)
    assert worker.rung == []
    await worker.wait(4)
    assert [page.outcome for page in worker.rung] == ["no_reply"]
    await worker.wait(200)
    assert len({page.dedup_key for page in worker.rung}) == 1


async def test_a_second_message_may_follow_though_the_clock_is_behind(worker):
    """The first alone leaves out the way to help."""
    await worker.read(user("c", "imminent", 3 - HOURS), reply("c", "good without help", 4 - HOURS))
    await worker.wait(1)
    await worker.read(reply("c", "good", 5 - HOURS), user("other", "hello", 4))
    await worker.wait(60)
    assert worker.rung == []


async def test_what_waited_in_a_backlog_is_due_when_it_was_said(worker):
    """It is old because nobody read it."""
    worker.caught_up = False
    await worker.wait(300)
    await worker.read(user("c", "crisis", 10))
    worker.caught_up = True
    await worker.wait(4)
    assert [page.incident for page in worker.rung] == [incident_of("c")]


async def test_in_a_backlog_a_clock_that_is_ahead_takes_nobody_for_unanswered(worker):
    worker.caught_up = False
    await worker.wait(3600)
    await worker.read(user("c", "crisis", 10), user("ahead", "hello", 3700))
    await worker.wait(5)
    assert worker.rung == []
    await worker.read(reply("c", "good", 30))
    worker.caught_up = True
    await worker.wait(60)
    assert worker.rung == []


LAG = 30


async def reads_late(worker, first, last, *, answered=None):
    """Nothing is read to its end: each second comes what the app said ``LAG`` seconds ago, by a right clock."""
    for now in range(first, last):
        said = now - LAG - HOURS
        await worker.read(
            user(f"other {now}", "hello", said), *([reply("c", "good", said)] if now == answered else [])
        )
        await worker.wait(1)


async def test_a_clock_that_is_behind_hides_nobody_in_a_partition_that_is_never_read_to_its_end(worker):
    await worker.read(user("c", "crisis", 3 - HOURS))
    worker.caught_up = False
    await worker.wait(LAG)
    await reads_late(worker, 33, 80)
    assert worker.rung == []  # what came up to its deadline is not read yet
    await reads_late(worker, 80, 110)
    assert [page.outcome for page in worker.rung] == ["no_reply"]


async def test_there_an_answer_that_waited_to_be_read_is_found_in_time(worker):
    await worker.read(user("c", "crisis", 3 - HOURS))
    worker.caught_up = False
    await worker.wait(LAG)
    await reads_late(worker, 33, 200, answered=85)
    assert worker.rung == []


async def test_a_right_clock_that_speaks_in_the_backlog_does_not_hurry_it(worker):
    """It is younger than all were before: it says how far we have read by itself."""
    await worker.read(user("c", "crisis", 3 - HOURS))
    worker.caught_up = False
    await worker.wait(50)
    await worker.read(user("right", "hello", 25))
    await worker.wait(30)
    assert worker.rung == []


def test_live_is_what_comes_just_after_all_was_read(worker):
    reading = worker.reading
    reading.look(at(100))
    assert reading.live(PARTITION, at(104))
    assert not reading.live(PARTITION, at(106))
    worker.caught_up = False
    reading.look(at(107))
    assert not reading.live(PARTITION, at(107))
    reading.look(at(108))
    reading.assigned({PARTITION: 0})
    assert not reading.live(PARTITION, at(108))
