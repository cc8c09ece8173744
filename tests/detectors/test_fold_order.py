"""Fold is a function of the set of turns: whatever the order, the batches and the repeats."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.conversation import Conversation, Entry
from detectors.fold import fold
from detectors.pieces import joined_text
from tests.support.builders import START, heard
from tests.support.strategies import (
    CALM,
    HARMFUL_REPLIES,
    HARMLESS_REPLIES,
    REMEMBERED,
    REMEMBERED_REPLIES,
    arrivals,
    conversations,
)

EMPTY = Conversation("c")


def told(entry: Entry) -> tuple[object, ...]:
    """All of an entry but its name, which is that of the first event under which we read it."""
    return joined_text(entry.pieces), replace(entry, event="", pieces=())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_order_any_batches_and_repeats_give_the_same_conversation(data):
    replies = (*HARMLESS_REPLIES, *HARMFUL_REPLIES, *REMEMBERED_REPLIES)
    turns = data.draw(conversations(users=(*CALM, *REMEMBERED), replies=replies))
    expected = heard(EMPTY, turns)
    state = EMPTY
    for batch in data.draw(arrivals(turns)):
        state = heard(state, batch)
    assert [told(entry) for entry in state.entries] == [told(entry) for entry in expected.entries]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_of_what_was_read_before_is_new(data):
    turns = data.draw(conversations())
    state = fold(EMPTY, turns, START).conversation
    again = fold(state, data.draw(st.permutations(turns)), START)
    assert (again.conversation, again.unscored, again.repeats) == (state, (), len(turns))
