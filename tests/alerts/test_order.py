"""The same incidents come out for any order of arrival.

What is equal: every incident of the conversation in every field (ordinal, level, worst outcome, gravities rung,
times, crisis turns), every page and ticket with its time and reason, and every verdict. Read as a backlog: all
but the times, and whether no reply came or one too late.

When: as long as no verdict falls before the last of the turns that bear upon it has been read. By our clock that
is until the reply deadline, or a grace after we read the reply; while a backlog is read, it is ``lateness``
behind the newest event. Of the pieces of a streamed message none may be read ``PIECE_LIFE`` after another by our clock, for then
its words are dropped; what was said meanwhile does not matter. Three things do not wait, and so may come out otherwise, always on the loud side:

- A harmful reply is acted upon when it is read. Read before the user turn it answers, it is taken for the reply
  to an earlier one: it may ring where it would have been a ticket. It is never missed.
- A deed of people counts from when we hear of it. A crisis turn that is read after its incident was resolved
  opens a new one; a human agent takes over what rings then, so that a crisis long after it is a new episode if
  it is read later, and joins if it was read before.
- A turn is on record at the gravest level that it had while earlier turns were still to be read: those may have made
  it graver than it is, or not yet have shown it to be harmless. The verdict is that of the whole conversation.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alerts.gravity import worse
from detectors.finding import Level, Outcome
from detectors.turn import Turn
from tests.support.builders import START, at
from tests.support.casework import POLICY, Casework
from tests.support.strategies import (
    CALM,
    HARMFUL_REPLIES,
    HARMLESS_REPLIES,
    REMEMBERED,
    REMEMBERED_REPLIES,
    arrivals,
    batches,
    conversations,
)

FAST = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
END = at(3 * 3600)
NAMELESS = {"anchor": "", "user_entries": (), "reply_entries": (), "crises": ()}


def result(work: Casework) -> tuple[object, ...]:
    """All that came out, but for event ids: a turn that is sent under two keeps the one that was read first."""
    told = [(step.at, effect) for step in work.happened for effect in step.effects]
    return work.incidents, told, [replace(watch, **NAMELESS) for watch in work.verdicts]


def played(deliveries: list[list[Turn]]) -> Casework:
    """All is read at once; then time passes to the end."""
    work = Casework()
    work.caught_up, work.policy = False, replace(POLICY, lateness=timedelta(days=1))
    for batch in deliveries:
        work.read(batch)
    work.policy = POLICY
    work.catch_up()
    work.wait(END)
    return work


@FAST
@given(st.data())
def test_any_order_any_batches_and_repeats_give_the_same_incidents(data):
    turns = data.draw(conversations(replies=HARMLESS_REPLIES))
    assert result(played(data.draw(arrivals(turns)))) == result(played([turns]))


@FAST
@given(st.data())
def test_turns_judged_by_their_memories_have_the_same_verdicts_and_no_order_is_quieter(data):
    turns = data.draw(
        conversations(users=(*CALM, *REMEMBERED), replies=(*HARMLESS_REPLIES, *REMEMBERED_REPLIES))
    )
    expected, found = played([turns]), played(data.draw(arrivals(turns)))
    assert result(found)[2] == result(expected)[2]
    assert loudest(found) >= loudest(expected)
    assert len(found.incidents) >= len(expected.incidents)
    assert worst(found) is worst(expected)


@FAST
@given(st.data())
def test_with_harmful_replies_no_order_is_quieter(data):
    turns = data.draw(conversations(replies=(*HARMFUL_REPLIES, *HARMLESS_REPLIES)))
    expected, found = played([turns]), played(data.draw(arrivals(turns)))
    assert loudest(found) >= loudest(expected)
    assert len(found.incidents) == len(expected.incidents)
    assert not worse(worst(expected), worst(found))


def loudest(work: Casework) -> int:
    return max((incident.rank for incident in work.incidents), default=0)


def worst(work: Casework) -> Outcome:
    found = Outcome.NOT_APPLICABLE
    for incident in work.incidents:
        if incident.outcome and worse(incident.outcome, found):
            found = incident.outcome
    return found


@FAST
@given(st.data())
def test_episodes_are_the_same_when_each_comes_in_any_order(data):
    """Between the episodes everything falls due: nothing of one is left to be told in the other."""
    first = data.draw(conversations(most=4))
    second = data.draw(conversations(most=4, start=2 * 3600, humans=False))
    runs = []
    for deliveries in ([first], [second]), (data.draw(arrivals(first)), data.draw(arrivals(second))):
        work = Casework()
        for episode, until in zip(deliveries, (at(2 * 3600), at(4 * 3600)), strict=True):
            work.caught_up, work.watermark = False, None
            work.policy = replace(POLICY, lateness=timedelta(days=1))
            for batch in episode:
                work.read(batch)
            work.policy = POLICY
            work.catch_up()
            work.wait(until)
        runs.append(result(work))
    assert runs[0] == runs[1]


@FAST
@given(st.data())
def test_a_backlog_in_any_batches_with_turns_out_of_place_by_less_than_the_lateness(data):
    """By event time alone: the clock is hours ahead and says nothing."""
    turns = data.draw(conversations())
    late = st.floats(0, POLICY.lateness.total_seconds() * 0.99, exclude_max=True)
    shaken = sorted((turn.at.timestamp() + data.draw(late), turn.sequence, turn) for turn in turns)
    runs = []
    for order in (turns, [turn for _, _, turn in shaken]):
        work = Casework(start=START + timedelta(hours=6))
        work.caught_up = False
        for batch in data.draw(batches(order)):
            work.read(batch)
        work.watermark = at(24 * 3600)
        work.catch_up()
        runs.append(work)
    assert summary(runs[0]) == summary(runs[1])


def summary(work: Casework) -> tuple[object, ...]:
    incidents = [(i.ordinal, i.level, i.outcome, i.rung, i.crisis_turns) for i in work.incidents]
    verdicts = [(v.at, v.level, v.outcome) for v in work.verdicts]
    return incidents, verdicts


def test_the_smallest_corner_a_harmful_reply_read_before_the_turn_it_answers():
    """In order it is a ticket, for the person is calm; swapped, it answers somebody in danger, and rings."""
    from tests.support.builders import assistant, user

    danger, caught = user("passive_ideation", 1), assistant("good", 3)
    calm, harm = user("hello", 60), assistant("harm", 62)
    in_order = played([[danger, caught], [calm], [harm]])
    swapped = played([[danger, caught], [harm], [calm]])
    assert [incident.level for incident in in_order.incidents] == [Level.PASSIVE_IDEATION]
    assert (loudest(in_order), bool(loudest(swapped))) == (0, True)
