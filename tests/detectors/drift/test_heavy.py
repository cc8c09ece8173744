from __future__ import annotations

from collections import Counter
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.drift.heavy import Heavy

REPLIES = st.lists(st.lists(st.integers(0, 40), max_size=4), max_size=120)
FEW = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=60)


def fed(replies, room):
    heavy = Heavy(room)
    for names in replies:
        heavy.add(names)
    return heavy


@given(REPLIES, st.integers(1, 8), st.integers(1, 5))
def test_what_is_lost_is_known_and_bounded_in_whatever_pieces(replies, room, pieces):
    whole = reduce(Heavy.merge, [fed(replies[at::pieces], room) for at in range(pieces)])
    true = Counter(name for names in replies for name in set(names))
    assert len(whole.counts) <= whole.most
    assert whole.lost * (room + 1) <= sum(true.values())
    for name in range(41):
        low, high = whole.bounds(name)
        assert low <= true[name] <= high


@given(REPLIES, REPLIES, st.integers(1, 8))
def test_merging_commutes(one, other, room):
    a, b = fed(one, room), fed(other, room)
    assert a.merge(b) == b.merge(a)


@given(FEW, FEW, FEW)
def test_with_room_for_all_it_is_exact_and_associative(one, other, third):
    a, b, c = (fed(each, 10) for each in (one, other, third))
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == fed(one + other + third, 10)
    assert a.merge(b).merge(c).lost == 0


def test_pairs_within_a_conversation_are_counted():
    heavy = Heavy(4)
    heavy.add(["a"])
    heavy.add(["a", "b"], [["a"]])
    heavy.add(["a", "b"], [["a"], ["a", "b"]])
    assert heavy.counts == {"a": (3, 3), "b": (2, 1)}


def test_counts_of_different_room_do_not_merge():
    with pytest.raises(ValueError, match="different room"):
        Heavy(3).merge(Heavy(4))
