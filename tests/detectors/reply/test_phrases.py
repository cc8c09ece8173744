from __future__ import annotations

import pytest

from detectors.reply.phrases import Hit, Kind, Phrasebook, load
from detectors.reply.text import QUOTE, WHOLE, read
from detectors.text.plain import plain

LEXICONS = (
    "boundary",
    "conduct",
    "feeling",
    "harm_pushing",
    "harm_severing",
    "reassurance",
    "recognition",
    "referral",
    "refusal",
    "thread",
)


def book(**fields: object) -> Phrasebook:
    return Phrasebook([Kind("found", **fields)], {"pet": "cat|dog"})


@pytest.mark.parametrize("text", ["你自私", "you are selfish", "it was not late, you are selfish"])
def test_a_phrase_is_found(text):
    assert book(zh=("自私",), en=("selfish",)).first(text).keys() == {"found"}


@pytest.mark.parametrize(
    "text", ["你不自私", "你并不自私", "you are not selfish", "you aren't really selfish", "never selfish"]
)
def test_a_negation_in_the_clause_takes_it_back(text):
    assert book(zh=("自私",), en=("selfish",)).first(text) == {}
    assert book(zh=("自私",), en=("selfish",), negatable=False).first(text).keys() == {"found"}


@pytest.mark.parametrize("text", ["能不能告诉她", "要不要告诉她", "不晚,告诉她"])
def test_asking_whether_is_no_negation(text):
    assert book(zh=("告诉",)).first(text).keys() == {"found"}


def test_unless_works_within_its_sentence():
    phrases = book(en=("selfish",), unless=("feel",))
    assert phrases.first("you feel selfish.") == {}
    assert phrases.first("you feel low.\nthat is selfish.").keys() == {"found"}


def test_gaps_end_with_the_clause_and_with_the_sentence():
    assert book(zh=("打_电话",)).first("打个电话").keys() == {"found"}
    assert book(zh=("打_电话",)).first("打,电话") == {}
    assert book(en=("call~now",)).first("call them, now").keys() == {"found"}
    assert book(en=("call~now",)).first("call them\nnow") == {}


def test_words_are_whole_and_groups_are_filled_in():
    assert book(en=("my {pet}",)).first("my dog").keys() == {"found"}
    assert book(en=("my {pet}",)).first("my dogma") == {}
    assert book(en=(r"now\?",)).first("call now?").keys() == {"found"}


def test_lines_are_counted():
    assert book(en=("call",)).find("one\ncall\ncall call") == (Hit("found", 1), Hit("found", 2))


@pytest.mark.parametrize("name", LEXICONS)
def test_every_lexicon_compiles(name):
    assert load(name).first("") == {}


def test_quotations_are_blanked_but_kept_for_numbers():
    reply = read("你说“我走了大家都轻松”，我听着很疼。拨“12356”。")
    assert "走了" not in reply.said
    assert QUOTE in reply.said
    assert "12356" in reply.full


def test_apostrophes_are_no_quotation_marks():
    assert read("I'm here, and it's late, isn't it").said == "i'm here, and it's late, isn't it"


def test_one_sentence_a_line():
    assert read("一。二！三？ Four. Five! At 3.5 a.m. six?").said.split("\n") == [
        "一。",
        "二!",
        "三?",
        "four.",
        "five!",
        "at 3.5 a.m. six?",
    ]


def test_one_form_of_writing():
    assert plain("請叫醒媽媽\u200b，Ｃａｌｌ　ｎｏｗ") == "请叫醒妈妈,call now"


def test_what_is_too_long_is_cut_and_says_so():
    assert read("嗯" * (WHOLE + 1)).cut
    assert not read("嗯" * WHOLE).cut
