"""Properties of a delivery, for receivers that do whatever they like."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.delivery import (
    ADMITTED,
    Answer,
    Attempt,
    Delivery,
    RetryPolicy,
    State,
    abandoned,
    answered,
    carried,
    due,
    outlived,
    put_off,
    reached,
    resumed,
    started,
)
from alerts.page import Kind
from tests.support.fake_clock import EPOCH

POLICY = RetryPolicy()
REQUEST_LIMIT = timedelta(seconds=9)

failures = st.builds(
    Attempt,
    answer=st.sampled_from([answer for answer in Answer if answer is not Answer.ACCEPTED]),
    reason=st.just("some_reason"),
    retry_after=st.none() | st.timedeltas(timedelta(seconds=-5), timedelta(days=2)),
)
# What one request brings, and how long it took: a hang takes the whole limit.
tries = st.tuples(failures, st.timedeltas(timedelta(0), REQUEST_LIMIT))
routes = st.integers(1, 4).map(lambda count: tuple(f"channel-{number}" for number in range(count)))


def play(route, script, policy=POLICY):
    """Return (time, delivery) before each request, and the last state."""
    now, delivery, seen = EPOCH, Delivery(route), []
    for attempt, took in script:
        delivery = started(delivery, now)
        seen.append((now, delivery))
        now += took
        delivery = answered(delivery, attempt, now, policy)
        if delivery.state.final:
            break
        assert delivery.next_at is not None
        now = max(now, delivery.next_at)
    return seen, delivery, now


@given(routes, st.lists(tries, min_size=1, max_size=60))
def test_a_page_is_never_given_up(route, script):
    _, delivery, _ = play(route, script)
    assert delivery.state is State.RETRYING
    assert delivery.attempts == len(script)
    assert delivery.next_at is not None


@given(routes, st.lists(tries, min_size=1, max_size=60))
def test_silence_never_lasts_longer_than_a_minute(route, script):
    seen, _, end = play(route, script)
    times = [at for at, _ in seen] + [end]
    longest = max(later - earlier for earlier, later in itertools.pairwise(times))
    assert longest <= timedelta(seconds=60) + REQUEST_LIMIT


@given(routes.filter(lambda route: len(route) > 1), st.lists(tries, min_size=40, max_size=60))
def test_the_next_channel_is_asked_within_30_seconds(route, script):
    seen, _, _ = play(route, script)
    first_asked = {}
    for at, delivery in seen:
        first_asked.setdefault(delivery.channel, at)
    within_a_round = [
        first_asked[channel + 1] - first_asked[channel]
        for channel in first_asked
        if channel + 1 in first_asked and (channel + 1) % len(route)
    ]
    assert within_a_round
    assert max(within_a_round) <= timedelta(seconds=30)


@given(routes, st.lists(failures, min_size=1, max_size=200))
def test_a_dead_receiver_is_not_hammered(route, answers):
    seen, _, _ = play(route, [(attempt, timedelta(0)) for attempt in answers])
    times = [at for at, _ in seen]
    minute = timedelta(minutes=1)
    most = max(sum(start <= at < start + minute for at in times) for start in times)
    assert most <= 12 * len(route)
    late = [at for at in times if at - EPOCH > timedelta(minutes=10)]
    assert all(sum(start <= at < start + minute for at in late) <= 3 * len(route) for start in late)


@given(routes, st.lists(tries, max_size=20), st.lists(failures, min_size=1, max_size=5))
def test_accepted_is_final(route, script, late_answers):
    seen, delivery, now = play(route, [*script, (Attempt(Answer.ACCEPTED, "http_202"), timedelta(0))])
    assert delivery.state is State.ACCEPTED
    assert delivery.accepted_by == seen[-1][1].channel_name
    assert not due(delivery, now + timedelta(days=1))
    for attempt in late_answers:
        assert answered(delivery, attempt, now, POLICY) is delivery
    assert started(delivery, now) is delivery
    assert abandoned(delivery, "outlived") is delivery


@given(routes, st.lists(tries, max_size=10))
def test_a_row_whose_relay_died_is_due_at_once_and_counts_as_lost(route, script):
    _, delivery, now = play(route, script)
    dead = started(delivery, now)
    assert due(dead, now)
    again = resumed(dead, now + timedelta(seconds=15), POLICY)
    assert again.reason == "relay_died"
    assert due(again, now + timedelta(seconds=15))
    assert again.attempts == dead.attempts


def test_a_channel_that_keeps_killing_its_relay_is_left():
    delivery, now = Delivery(("first", "second")), EPOCH
    for _ in range(2):
        delivery = started(resumed(delivery, now, POLICY), now)
        now += timedelta(seconds=15)
    assert resumed(delivery, now, POLICY).channel_name == "second"


def test_a_refusal_moves_on_at_once():
    delivery = answered(
        started(Delivery(("first", "second")), EPOCH), Attempt(Answer.REJECTED, "http_400"), EPOCH, POLICY
    )
    assert (delivery.channel_name, delivery.next_at) == ("second", EPOCH)


def test_a_long_retry_after_moves_on_where_there_is_another_channel():
    later = Attempt(Answer.THROTTLED, "http_429", timedelta(minutes=10))
    assert answered(started(Delivery(("a", "b")), EPOCH), later, EPOCH, POLICY).channel_name == "b"


def test_a_long_retry_after_is_bounded_where_there_is_none():
    later = Attempt(Answer.THROTTLED, "http_429", timedelta(hours=10))
    delivery = answered(started(Delivery(("only",)), EPOCH), later, EPOCH, POLICY)
    assert delivery.next_at == EPOCH + timedelta(seconds=60)


def test_a_short_retry_after_is_kept():
    later = Attempt(Answer.THROTTLED, "http_429", timedelta(seconds=7))
    delivery = answered(started(Delivery(("a", "b")), EPOCH), later, EPOCH, POLICY)
    assert (delivery.channel_name, delivery.next_at) == ("a", EPOCH + timedelta(seconds=7))


@pytest.mark.parametrize(
    ("kind", "over"),
    [(Kind.PAGE, False), (Kind.TICKET, False), (Kind.ACKNOWLEDGE, True), (Kind.RESOLVE, True)],
)
def test_only_updates_are_outlived(kind, over):
    assert outlived(kind, timedelta(hours=1, seconds=1), POLICY) is over
    assert outlived(kind, timedelta(hours=1), POLICY) is False


def test_an_abandoned_row_is_done_with():
    delivery = abandoned(Delivery(("first",)), "outlived")
    assert (delivery.state, delivery.reason) == (State.ABANDONED, "outlived")
    assert not due(delivery, EPOCH + timedelta(days=1))


def test_what_may_have_left_goes_on_being_so_while_it_is_put_off():
    delivery = Delivery(("a",), reason=ADMITTED)
    later = put_off(delivery, EPOCH, "held")
    assert (later.state, later.next_at, later.reason) == (State.RETRYING, EPOCH, ADMITTED)
    assert put_off(Delivery(("a",)), EPOCH, "held").reason == "held"
    assert carried(later).attempts == 1, "its updates are sent: the receiver may have it"
    assert carried(Delivery(("a",))).attempts == 0


def test_who_has_it_is_who_said_so_or_else_who_was_asked_last():
    fresh = Delivery(("first", "second"))
    assert reached(fresh) is None
    asked = started(fresh, EPOCH)
    assert reached(asked) == reached(abandoned(asked, "withdrawn")) == "first"
    refused = answered(asked, Attempt(Answer.REJECTED, "http_400"), EPOCH, POLICY)
    assert reached(refused) is None
    again = started(refused, EPOCH)
    assert reached(answered(again, Attempt(Answer.LOST, "timeout"), EPOCH, POLICY)) == "second"
    assert reached(answered(again, Attempt(Answer.ACCEPTED, "http_202"), EPOCH, POLICY)) == "second"
    assert reached(Delivery(())) is None
