"""Explicit words alone: what is plainly said is heard, and what is not heard is never called safe."""

from __future__ import annotations

import pytest

from detectors.context import asks, contextual
from detectors.crisis.phrases import PhraseScorer
from detectors.finding import Level, UserSignal


def heard(text: str, lang: str | None = None) -> UserSignal:
    (signal,) = PhraseScorer().score([text], [lang])
    return signal


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("I want to kill myself", Level.ACTIVE_IDEATION),
        ("我想自杀，我已经撑不住了", Level.ACTIVE_IDEATION),
        ("遗书已经写好了，今晚就走", Level.PREPARATION),
    ],
)
def test_what_is_plainly_said_is_heard_with_its_reason(text, level):
    signal = heard(text)
    assert signal.level.severity >= level.severity
    assert signal.evidence[0].kind == "plain"
    assert signal.degraded


@pytest.mark.parametrize(
    "text", ["today I cleaned the balcony", "我不是想自杀，只是累", "", "everything is grey"]
)
def test_where_nothing_is_heard_the_turn_is_unscored_and_not_safe(text):
    signal = heard(text)
    assert signal.level is Level.UNSCORED
    assert signal.degraded


def test_others_words_are_not_taken_for_ones_own():
    assert not heard("my friend said she wants to kill herself").level.crisis


def test_the_language_is_told_from_the_text_or_else_from_the_hint():
    assert (heard("我想自杀").language, heard("1", "en-GB").language) == ("zh", "en")
    assert heard("bored", "en_US").language == "en"


def test_one_signal_a_text_in_order():
    found = PhraseScorer().score(["hello", "I want to kill myself"], [None, None])
    assert [one.level.crisis for one in found] == [False, True]


@pytest.mark.parametrize(
    ("disclosed", "farewell"),
    [
        ("I want to kill myself", "goodbye, thank you for everything"),
        ("我想自杀", "再见，谢谢你陪我"),
    ],
)
def test_a_farewell_after_a_disclosure_asks_for_an_answer_without_the_encoder_too(disclosed, farewell):
    """A turn without a memory is judged in its conversation by marks in its words: those must be given."""
    turns = contextual(PhraseScorer().score([disclosed, farewell], [None, None]))
    assert [one.level for one in turns] == [Level.ACTIVE_IDEATION, Level.ACTIVE_IDEATION]
    assert turns[1].evidence[0].source == "farewell_after_disclosure"
    assert asks(turns[1])
    assert turns[1].degraded


def test_a_farewell_after_nothing_grave_stays_unscored():
    said = ["today I cleaned the balcony", "goodbye, thank you for everything"]
    turns = contextual(PhraseScorer().score(said, [None, None]))
    assert [one.level for one in turns] == [Level.UNSCORED, Level.UNSCORED]
