"""The relay on a clock that tests move: timetables of pages, channels that fail, a database that is away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.delivery import Answer, Attempt, RetryPolicy, State, answered, started
from alerts.memory_outbox import MemoryOutbox
from alerts.page import Kind
from alerts.relay import Relay, RelayLimits
from tests.support.fake_clock import EPOCH, FakeClock, settle
from tests.support.fake_pager import BROKEN, LOST, NO, YES, After, FakePager, Fault, Hang
from tests.support.pages import a_notification
from tests.support.storms import GROUPING, a_row

SECOND = timedelta(seconds=1)


class Ear:
    """A RelayObserver that remembers."""

    def __init__(self):
        self.attempts = []
        self.seconds = []
        self.dropped_pages = []
        self.failures = []
        self.rounds = []

    def sent(self, page, pager, attempt, delivery, seconds_since_detected):
        self.attempts.append((page.dedup_key, pager, attempt.reason, delivery.state))
        self.seconds.append(seconds_since_detected)

    def dropped(self, page, delivery):
        self.dropped_pages.append((page.dedup_key, delivery.state, delivery.reason))

    def went_round(self, now):
        self.rounds.append(now)

    def outbox_failed(self, operation):
        self.failures.append(operation)


class FlakyOutbox(MemoryOutbox):
    """An outbox whose database can go away, by errors or by silence."""

    def __init__(self):
        super().__init__()
        self.away = False
        self.silent = False
        self.poisoned = set()
        self.claims = 0

    async def _gate(self):
        if self.silent:
            await asyncio.Event().wait()
        if self.away:
            raise ConnectionError("the database is away")

    async def claim(self, now, lease, limit):
        self.claims += 1
        await self._gate()
        return await super().claim(now, lease, limit)

    async def record(self, notification_id, delivery):
        await self._gate()
        if notification_id in self.poisoned:
            raise ValueError("this row cannot be written")
        await super().record(notification_id, delivery)

    def state(self, notification_id):
        return next(row.delivery for row in self.rows() if row.id == notification_id)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def outbox():
    return FlakyOutbox()


@pytest.fixture
def ear():
    return Ear()


@contextlib.asynccontextmanager
async def running(*relays: Relay) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(relay.run()) for relay in relays]
    await settle()
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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


async def test_the_end_does_not_wait_for_a_database_that_is_away(clock, outbox, ear):
    relay = Relay(outbox, [FakePager("first", clock)], clock, ear)
    outbox.add([a_notification("n-1")])
    task = asyncio.create_task(relay.run())
    await settle()
    outbox.silent = True
    relay.stop()
    await clock.advance(20 * SECOND)
    assert task.done()


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
