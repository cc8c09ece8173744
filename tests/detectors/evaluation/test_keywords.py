from __future__ import annotations

import pytest

from detectors.evaluation.keywords import KeywordScorer
from detectors.finding import Level


@pytest.mark.parametrize(
    "text", ["我真的不想活了", "i want to die", "Thinking about SUICIDE again", "昨天写了遗书"]
)
def test_a_word_of_the_list_is_enough(text):
    (found,) = KeywordScorer().score([text], [None])
    assert found.level is Level.ACTIVE_IDEATION
    assert found.score == 1


@pytest.mark.parametrize(
    "text", ["今天雨停了", "the diet is going well", "commit the change", "", "我把东西都分好了"]
)
def test_anything_else_is_harmless(text):
    (found,) = KeywordScorer().score([text], ["zh"])
    assert (found.level, found.score) == (Level.NONE, 0)


def test_it_knows_no_context_and_no_negation():
    # what it is here for: the others are to be better than this
    found = KeywordScorer().score(["他没有自杀", "电影里的人说想死"], ["zh", "zh"])
    assert [one.level for one in found] == [Level.ACTIVE_IDEATION] * 2
    assert all(one.memory == "" for one in found)


def test_one_signal_for_each_text_in_order():
    found = KeywordScorer().score(["雨", "自杀", "风"], [None] * 3)
    assert [one.level.crisis for one in found] == [False, True, False]
