"""The relay while its database is away, by errors or by silence."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.delivery import Answer, Attempt, RetryPolicy, State, answered, started
from alerts.memory_outbox import MemoryOutbox
from alerts.relay import Relay
from tests.support.fake_clock import EPOCH, FakeClock, settle
from tests.support.fake_pager import BROKEN, LOST, NO, YES, After, FakePager, Fault, Hang
from tests.support.pages import a_notification
from tests.support.relays import Ear, FlakyOutbox, running
from tests.support.storms import GROUPING, a_row

SECOND = timedelta(seconds=1)


async def test_when_the_database_goes_away_the_page_in_hand_is_sent_and_recorded_later(clock, outbox, ear):
    first = FakePager("first", clock, After(2 * SECOND))
    relay = Relay(outbox, [first], clock, ear)
    async with running(relay):
        outbox.add([a_notification("n-1")])
        relay.wake()
        await clock.advance(SECOND)
        outbox.away = True
        await clock.advance(60 * SECOND)
        assert ear.attempts == [("n-1", "first", "http_202", State.ACCEPTED)]
        assert relay.unrecorded == 1
        assert set(ear.failures) == {"claim", "record"}
        outbox.away = False
        await clock.advance(5 * SECOND)
        assert outbox.state("n-1").state is State.ACCEPTED
    assert first.keys == ["n-1"]
    assert relay.unrecorded == 0


@pytest.mark.parametrize("kind_of_away", ["away", "silent"])
async def test_while_the_database_is_away_a_page_in_hand_goes_on_to_the_next_channel(
    clock, outbox, ear, kind_of_away
):
    first, second = FakePager("first", clock, then=BROKEN), FakePager("second", clock)
    relay = Relay(outbox, [first, second], clock, ear)
    async with running(relay):
        outbox.add([a_notification("n-1")])
        relay.wake()
        await settle()
        setattr(outbox, kind_of_away, True)
        took = await clock.advance_until(lambda: bool(second.rung), 60 * SECOND)
        assert took <= 30 * SECOND
        setattr(outbox, kind_of_away, False)
        await clock.advance(20 * SECOND)
        assert outbox.state("n-1").accepted_by == "second"
    assert second.keys == ["n-1"]


async def test_what_was_put_off_is_sent_when_its_time_comes_though_the_database_has_gone(clock, outbox, ear):
    slow = FakePager("anna", clock, After(2 * SECOND))
    relay = Relay(outbox, [slow], clock, ear, grouping=GROUPING)
    async with running(relay):
        outbox.add([a_row(1)])
        relay.wake()
        await settle()
        outbox.add([a_row(1, alert="r9")])
        relay.wake()
        await settle()
        assert {row.delivery.reason for row in outbox.rows() if row.page.step == 0} >= {"held"}
        outbox.away = True
        await clock.advance(8 * SECOND)
        assert [key.removeprefix(a_row(1).page.incident) for key in slow.keys] == ["", "-r9"]
        outbox.away = False
        await clock.advance(20 * SECOND)
    assert len(slow.rung) == 2


async def test_one_row_that_cannot_be_written_does_not_stop_the_others(clock, outbox, ear):
    first = FakePager("first", clock, BROKEN)
    outbox.poisoned.add("n-1")
    async with running(Relay(outbox, [first], clock, ear)):
        outbox.add([a_notification("n-1", route=("first",))])
        await clock.advance(2 * SECOND)
        outbox.add([a_notification("n-2", route=("first",))])
        await clock.advance(5 * SECOND)
        assert outbox.state("n-2").state is State.ACCEPTED
    assert ("n-1", "first", "http_202", State.ACCEPTED) in ear.attempts


async def test_a_row_that_another_relay_took_over_is_not_sent_again_when_the_database_goes(
    clock, outbox, ear
):
    first = FakePager("first", clock, then=BROKEN)
    outbox.add([a_notification("n-1", route=("first",))])
    async with running(Relay(outbox, [first], clock, ear)):
        other = answered(started(outbox.state("n-1"), EPOCH), YES, EPOCH, RetryPolicy())
        await outbox.record("n-1", other)
        await clock.advance(3 * SECOND)
        outbox.away = True
        await clock.advance(60 * SECOND)
    assert len(first.rung) == 1


async def test_the_end_does_not_wait_for_a_database_that_is_away(clock, outbox, ear):
    relay = Relay(outbox, [FakePager("first", clock)], clock, ear)
    outbox.add([a_notification("n-1")])
    task = asyncio.create_task(relay.run())
    await settle()
    outbox.silent = True
    relay.stop()
    await clock.advance(20 * SECOND)
    assert task.done()


async def test_pages_that_come_up_while_the_database_is_away_go_by_memory(clock, ear):
    memory = MemoryOutbox()
    first = FakePager("first", clock)
    relay = Relay(memory, [first], clock, ear)
    async with running(relay):
        memory.add([a_notification("n-1", degraded=True)])
        relay.wake()
        await settle()
        assert first.rung[0][1].degraded
        assert memory.rows()[0].delivery.state is State.ACCEPTED


does = st.sampled_from(
    [YES, NO, BROKEN, LOST, Hang(), Fault(), After(3 * SECOND), After(3 * SECOND, BROKEN)]
) | st.builds(lambda seconds: Attempt(Answer.THROTTLED, "http_429", seconds * SECOND), st.integers(0, 5000))
weather = st.lists(st.tuples(st.integers(1, 20), st.booleans(), st.booleans()), max_size=5)


@settings(max_examples=30, deadline=None)
@given(
    scripts=st.lists(st.lists(does, max_size=8), min_size=1, max_size=3),
    count=st.integers(1, 12),
    weather=weather,
)
def test_whatever_happens_every_page_arrives_once_things_mend(scripts, count, weather):
    async def story():
        clock, outbox = FakeClock(), FlakyOutbox()
        pagers = [FakePager(f"channel-{n}", clock, *script) for n, script in enumerate(scripts)]
        route = tuple(pager.name for pager in pagers)
        relays = [Relay(outbox, pagers, clock, Ear()) for _ in range(2)]
        was_away = False
        async with running(*relays):
            outbox.add(a_notification(f"n-{number}", route=route) for number in range(count))
            for seconds, outbox.away, outbox.silent in weather:
                was_away = was_away or outbox.away or outbox.silent
                await clock.advance(seconds * SECOND)
            outbox.away = outbox.silent = False
            await clock.advance(60 * SECOND)
            for pager in pagers:
                pager.mend()
            await clock.advance(90 * SECOND)
            assert all(row.delivery.state is State.ACCEPTED for row in outbox.rows())
            assert all(relay.unrecorded == 0 for relay in relays)
            requests = sum(len(pager.rung) for pager in pagers)
            await clock.advance(timedelta(minutes=2))
            assert sum(len(pager.rung) for pager in pagers) == requests, "accepted is final"
        received = {page.dedup_key for pager in pagers for page in pager.got}
        assert received == {f"n-{number}" for number in range(count)}
        if not was_away:
            assert max(pager.most_of_one_page for pager in pagers) == 1

    asyncio.run(story())
