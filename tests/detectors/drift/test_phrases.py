"""How sure a moved sentence is, where replies of one conversation are alike."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.drift.feature import FEATURES
from detectors.drift.gather import common_strata
from detectors.drift.phrases import design_effects, moved
from detectors.drift.policy import Policy
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style

POLICY = Policy()
HERE, LATER, ELSEWHERE = (
    Stratum(State.CALM, "zh"),
    Stratum(State.DISTRESSED, "zh"),
    Stratum(State.CALM, "en"),
)
SENTENCE = 7


def talks(said, strata, first=0):
    """A conversation for each of ``said``: in all of its replies the sentence, or in none. A reply for each of ``strata``."""
    sketch = StyleSketch()
    for number, one in enumerate(said, first):
        style = Style((3,) * len(FEATURES), (SENTENCE,) if one else ())
        replies = [Reply(stratum, style, number, place) for place, stratum in enumerate(strata)]
        for place, reply in enumerate(replies):
            sketch.add(reply, replies[max(0, place - 8) : place], place)
    return sketch


@pytest.fixture(scope="module")
def elsewhere():
    return talks([False] * 1_000, [ELSEWHERE] * 10, 1_000)


def swollen(one, other):
    strata = common_strata(one, other, POLICY.stratum_replies)
    sides = [(sketch, [sketch.strata[key] for key in strata]) for sketch in (one, other)]
    heavy = [[tally.templates for tally in tallies] for _, tallies in sides]
    return design_effects(SENTENCE, sides, heavy, strata)


@pytest.mark.parametrize("more", [0, 200])
@pytest.mark.parametrize("long", [1, 5, 9])
def test_likeness_is_learnt_where_both_sides_have_replies(more, long):
    """A sentence that is constant within conversations of five makes each count as one reply."""
    one = talks([True, False] * 50, [HERE] * 5).merge(talks([False] * more, [ELSEWHERE] * long, 1_000))
    other = talks([True, False] * 50, [HERE] * 5)
    assert swollen(one, other) == pytest.approx([5, 5])


def test_replies_in_a_state_that_is_not_compared_are_no_pairs_of_a_sentence():
    """Said or not by chance of the reply: no likeness, though every pair with a state elsewhere has the sentence."""
    sketch = StyleSketch()
    for number in range(200):
        said = [True, False] if number % 2 else [False, True]
        replies = [
            Reply(stratum, Style((3,) * len(FEATURES), (SENTENCE,) if one else ()), number, place)
            for place, (stratum, one) in enumerate(
                [(LATER, True), (LATER, True), *((HERE, each) for each in (*said, number % 4 < 2))]
            )
        ]
        for place, reply in enumerate(replies):
            sketch.add(reply, replies[:place])
    other = talks([True, False] * 50, [HERE])
    assert swollen(sketch, other)[0] < 1.5


def test_conversations_of_which_no_pair_was_seen_are_taken_for_all_of_one_kind():
    one = talks([True, False] * 50, [HERE, LATER])
    other = talks([True, False] * 50, [HERE]).merge(talks([True, False] * 50, [LATER], 100))
    assert swollen(one, other) == pytest.approx([2, 1])


def test_equal_releases_do_not_alarm_for_conversations_that_only_one_of_them_has(elsewhere):
    alarms = 0
    for run in range(60):
        chance = np.random.default_rng([1, run])
        one, other = (talks(chance.random(60) < 0.3, [HERE] * 10) for _ in range(2))
        one = one.merge(elsewhere)
        alarms += bool(moved(one, other, common_strata(one, other, POLICY.stratum_replies), POLICY))
    assert alarms == 0


def test_a_sentence_that_came_with_a_release_is_still_found_then(elsewhere):
    one = talks([True, False] * 50, [HERE] * 10).merge(elsewhere)
    other = talks([False] * 100, [HERE] * 10)
    (found,) = moved(one, other, common_strata(one, other, POLICY.stratum_replies), POLICY)
    assert (found.first, found.second) == (0.5, 0.0)
