"""The relay on a clock that tests move: timetables of pages, and channels that fail."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from alerts.delivery import State
from alerts.memory_outbox import MemoryOutbox
from alerts.page import Kind
from alerts.relay import Relay, RelayLimits
from tests.support.fake_clock import EPOCH, settle
from tests.support.fake_pager import BROKEN, LOST, NO, After, FakePager, Fault, Hang
from tests.support.pages import a_notification
from tests.support.relays import Ear, running

SECOND = timedelta(seconds=1)


async def test_a_commit_wakes_the_relay_and_no_time_passes(clock, outbox, ear):
    first = FakePager("first", clock)
    relay = Relay(outbox, [first], clock, ear)
    async with running(relay):
        outbox.add([a_notification("n-1")])
        relay.wake()
        await settle()
        assert first.rung[0][0] == EPOCH
        assert outbox.state("n-1").state is State.ACCEPTED
        assert outbox.state("n-1").accepted_by == "first"
    assert ear.attempts == [("n-1", "first", "http_202", State.ACCEPTED)]
    assert relay.unrecorded == 0


async def test_without_a_word_it_looks_each_second(clock, outbox, ear):
    first = FakePager("first", clock)
    async with running(Relay(outbox, [first], clock, ear)):
        outbox.add([a_notification("n-1")])
        await settle()
        assert first.rung == []
        await clock.advance(SECOND)
        assert first.keys == ["n-1"]


async def test_rest_is_rest(clock, outbox, ear):
    async with running(Relay(outbox, [FakePager("first", clock)], clock, ear)):
        await clock.advance(60 * SECOND)
    assert 55 <= outbox.claims <= 65


async def test_a_refused_page_goes_to_the_next_channel_at_once(clock, outbox, ear):
    """R59."""
    first, second = FakePager("first", clock, NO), FakePager("second", clock)
    async with running(Relay(outbox, [first, second], clock, ear)):
        outbox.add([a_notification("n-1")])
        await clock.advance(SECOND)
    assert [at for at, _ in second.rung] == [at for at, _ in first.rung]


@pytest.mark.parametrize("does", [BROKEN, LOST, Hang(), Fault(), After(20 * SECOND)])
async def test_the_next_channel_rings_within_30_seconds(clock, outbox, ear, does):
    first, second = FakePager("first", clock, then=does), FakePager("second", clock)
    relay = Relay(outbox, [first, second], clock, ear)
    async with running(relay):
        outbox.add([a_notification("n-1")])
        relay.wake()
        took = await clock.advance_until(lambda: bool(second.rung), 60 * SECOND)
    assert took <= 30 * SECOND
    assert outbox.state("n-1").accepted_by == "second"


async def test_a_page_that_nobody_takes_is_never_given_up(clock, outbox, ear):
    channels = [FakePager(name, clock, then=does) for name, does in (("first", NO), ("second", BROKEN))]
    async with running(Relay(outbox, channels, clock, ear)):
        outbox.add([a_notification("n-1")])
        await clock.advance(timedelta(hours=1))
        assert all(clock.now() - channel.rung[-1][0] < 90 * SECOND for channel in channels)
        assert len(channels[0].rung) < 200
        for channel in channels:
            channel.mend()
        await clock.advance(90 * SECOND)
        assert outbox.state("n-1").state is State.ACCEPTED


@pytest.mark.parametrize("kind", [Kind.ACKNOWLEDGE, Kind.RESOLVE])
async def test_an_update_is_abandoned_after_an_hour(clock, outbox, ear, kind):
    first = FakePager("first", clock, then=BROKEN)
    async with running(Relay(outbox, [first], clock, ear)):
        outbox.add([a_notification("n-1", kind=kind, route=("first",))])
        await clock.advance(timedelta(minutes=59))
        assert ear.dropped_pages == []
        await clock.advance(timedelta(minutes=3))
        requests = len(first.rung)
        await clock.advance(timedelta(minutes=5))
    assert ear.dropped_pages == [("n-1", State.ABANDONED, "outlived")]
    assert outbox.state("n-1").state is State.ABANDONED
    assert len(first.rung) == requests


async def test_a_hanging_channel_does_not_hold_up_other_pages(clock, outbox, ear):
    stuck, free = FakePager("stuck", clock, then=Hang()), FakePager("free", clock)
    relay = Relay(outbox, [stuck, free], clock, ear)
    async with running(relay):
        outbox.add(a_notification(f"s-{number}", route=("stuck",)) for number in range(100))
        relay.wake()
        await clock.advance(SECOND)
        outbox.add([a_notification("n-1", route=("free",))])
        relay.wake()
        took = await clock.advance_until(lambda: "n-1" in free.keys, 10 * SECOND)
    assert took == timedelta(0)
    assert stuck.most_at_once == RelayLimits().channel


async def test_even_with_all_hands_full_the_next_page_waits_seconds_only(clock, outbox, ear):
    stuck, free = FakePager("stuck", clock, then=Hang()), FakePager("free", clock)
    relay = Relay(outbox, [stuck, free], clock, ear)
    async with running(relay):
        outbox.add(a_notification(f"s-{number}", route=("stuck", "stuck")) for number in range(600))
        relay.wake()
        await clock.advance(SECOND)
        outbox.add([a_notification("n-1", route=("free",), created_at=clock.now())])
        relay.wake()
        took = await clock.advance_until(lambda: "n-1" in free.keys, 60 * SECOND)
    assert took <= 6 * SECOND


async def test_many_pages_leave_at_once_but_not_more_than_a_channel_bears(clock, outbox, ear):
    first = FakePager("first", clock, then=After(timedelta(milliseconds=100)))
    relay = Relay(outbox, [first], clock, ear)
    async with running(relay):
        outbox.add(a_notification(f"n-{number}", route=("first",)) for number in range(100))
        relay.wake()
        await clock.advance(SECOND)
    assert first.most_at_once == 16
    assert sorted(first.keys) == sorted(f"n-{number}" for number in range(100))


async def test_two_relays_share_the_rows(clock, outbox, ear):
    first = FakePager("first", clock, then=After(SECOND))
    relays = [Relay(outbox, [first], clock, ear) for _ in range(2)]
    async with running(*relays):
        outbox.add(a_notification(f"n-{number}", route=("first",)) for number in range(50))
        for relay in relays:
            relay.wake()
        await clock.advance(20 * SECOND)
    assert len(first.keys) == len(set(first.keys)) == 50


async def test_a_dead_relays_page_is_sent_by_another_when_the_lease_runs_out(clock, outbox, ear):
    dying, living = FakePager("first", clock, then=Hang()), FakePager("first", clock)
    async with running(Relay(outbox, [dying], clock, ear)):
        outbox.add([a_notification("n-1", route=("first",))])
        await clock.advance(SECOND)
        assert dying.keys == ["n-1"]
    died = clock.now()
    async with running(Relay(outbox, [living], clock, ear)):
        await clock.advance_until(lambda: bool(living.rung), 60 * SECOND)
    assert timedelta(seconds=9) < clock.now() - died <= timedelta(seconds=16)
    assert outbox.state("n-1").attempts == 2


async def test_a_channel_that_kills_every_relay_is_left_for_the_next(clock, outbox, ear):
    outbox.add([a_notification("n-1")])
    second = FakePager("second", clock)
    for _ in range(4):
        first = FakePager("first", clock, then=Hang())
        async with running(Relay(outbox, [first, second], clock, ear)):
            await clock.advance(timedelta(milliseconds=100))
        await clock.advance(timedelta(milliseconds=14_900))
    assert second.keys == ["n-1"]
    assert second.rung[0][0] - EPOCH <= timedelta(seconds=30)


async def test_with_its_hands_full_it_takes_the_next_row_as_soon_as_one_is_done(clock, outbox, ear):
    first = FakePager("first", clock, then=After(timedelta(milliseconds=50)))
    relay = Relay(outbox, [first], clock, ear, limits=RelayLimits(in_hand=2))
    async with running(relay):
        outbox.add(a_notification(f"n-{number}", route=("first",)) for number in range(10))
        relay.wake()
        await clock.advance(timedelta(milliseconds=500))
    assert len(first.got) == 10


async def test_a_stalled_process_does_not_send_after_its_lease(clock, outbox, ear):
    """It slept between claiming and sending: the row may be another relay's by now."""
    blocked, free = FakePager("first", clock, then=After(SECOND)), FakePager("first", clock)
    relay = Relay(outbox, [blocked], clock, ear, limits=RelayLimits(channel=1))
    async with running(relay):
        outbox.add(a_notification(f"n-{number}", route=("first",)) for number in range(2))
        relay.wake()
        await settle()
        assert len(blocked.keys) == 1
        clock.jump(30 * SECOND)
        await clock.advance(timedelta(milliseconds=1))
        assert len(blocked.keys) == 1
    async with running(Relay(outbox, [free], clock, ear)):
        await clock.advance(20 * SECOND)
    assert len(set(blocked.keys + free.keys)) == 2


async def test_a_clean_end_finishes_what_is_on_its_way_and_starts_nothing(clock, outbox, ear):
    first = FakePager("first", clock, then=After(3 * SECOND))
    relay = Relay(outbox, [first], clock, ear)
    outbox.add([a_notification("n-1")])
    task = asyncio.create_task(relay.run())
    await settle()
    relay.stop()
    outbox.add([a_notification("n-2")])
    await clock.advance(5 * SECOND)
    assert task.done()
    assert first.keys == ["n-1"]
    assert outbox.state("n-1").state is State.ACCEPTED
    assert outbox.state("n-2").state is State.PENDING


async def test_the_end_does_not_wait_for_ever(clock, outbox, ear):
    relay = Relay(
        outbox, [FakePager("first", clock, then=Hang())], clock, ear, limits=RelayLimits(shutdown=4 * SECOND)
    )
    outbox.add([a_notification("n-1")])
    task = asyncio.create_task(relay.run())
    await settle()
    relay.stop()
    await clock.advance(5 * SECOND)
    assert task.done()
    assert outbox.state("n-1").state is State.SENDING


async def test_a_route_that_leads_nowhere_takes_any_channel(clock, outbox, ear):
    first = FakePager("first", clock)
    async with running(Relay(outbox, [first], clock, ear)):
        outbox.add([a_notification("n-1", route=("renamed",)), a_notification("n-2", route=())])
        await clock.advance(SECOND)
    assert sorted(first.keys) == ["n-1", "n-2"]


async def test_an_unknown_channel_on_a_route_is_passed_over(clock, outbox, ear):
    second = FakePager("second", clock)
    async with running(Relay(outbox, [second], clock, ear)):
        outbox.add([a_notification("n-1")])
        await clock.advance(SECOND)
    assert [reason for _, _, reason, _ in ear.attempts] == ["unknown_pager", "http_202"]


async def test_an_observer_that_fails_stops_nothing(clock, outbox):
    class Broken(Ear):
        def sent(self, *_):
            raise RuntimeError("metrics are broken")

    first = FakePager("first", clock)
    async with running(Relay(outbox, [first], clock, Broken())):
        outbox.add([a_notification("n-1"), a_notification("n-2")])
        await clock.advance(SECOND)
    assert outbox.state("n-2").state is State.ACCEPTED


async def test_the_time_to_page_counts_from_detection(clock, outbox, ear):
    async with running(Relay(outbox, [FakePager("first", clock)], clock, ear)):
        outbox.add([a_notification("n-1", detected_at=EPOCH - 2 * SECOND)])
        outbox.add([a_notification("n-2", detected_at=None, created_at=EPOCH - 3 * SECOND)])
        await clock.advance(SECOND)
    assert sorted(ear.seconds) == [3.0, 4.0]


async def test_a_relay_without_a_pager_or_with_too_short_a_lease_is_refused(clock, outbox, ear):
    with pytest.raises(ValueError, match="at least one pager"):
        Relay(outbox, [], clock, ear)
    with pytest.raises(ValueError, match="lease"):
        RelayLimits(lease=10 * SECOND)


async def test_each_round_is_a_sign_of_life(clock):
    ear = Ear()
    relay = Relay(MemoryOutbox(), [FakePager("first", clock)], clock, ear)
    task = asyncio.create_task(relay.run())
    await settle()
    await clock.advance(timedelta(seconds=3))
    assert len(ear.rounds) == 4
    relay.stop()
    await settle()
    await task
