from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.text import normalise


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ｓｕｉｃｉｄｅ", "suicide"),
        ("suiсide", "suicide"),  # a Cyrillic letter
        ("su\u200dici\u200bde", "suicide"),
        ("s u i c i d e", "suicide"),
        ("i w a n t t o d i e", "i want to die"),
        ("i h.u.r.t m.y.s.e.l.f", "i hurt myself"),
        ("k*ll mys*lf", "kill myself"),
        ("1 w4nt t0 k1ll mys3lf", "1 want to kill myself"),
        ("wanna unalive myself", "wanna kill myself"),
        ("自.杀", "自杀"),
        ("想 死", "想死"),
        ("我 真 的 不 想 活", "我真的不想活"),
        ("我想zs", "我想自杀"),
        ("真的想紫砂", "真的想自杀"),
        ("真的好想s一s", "真的好想死"),
        ("xiang si", "想死"),
    ],
)
def test_hidden_words_are_read(written, meant):
    normal = normalise(written)
    assert normal.text == meant
    assert normal.obfuscated or written == "ｓｕｉｃｉｄｅ"


@pytest.mark.parametrize(
    "text",
    [
        "买了紫砂壶",
        "紫砂杯真好看",
        "4点想4块糖",
        "10k run with B2B people",
        "U.S.A. e.g. a b c",
        "Я хочу домой",
        "сегодня хорошо",
        "她是很熟练的 skilled nurse",
    ],
)
def test_harmless_writing_stays(text):
    normal = normalise(text)
    assert normal.text == text
    assert not normal.obfuscated


def test_traditional_becomes_simplified_and_apostrophes_plain():
    assert normalise("機車過戶給我弟了").text == "机车过户给我弟了"
    assert normalise("I can\u2019t go on").text == "I can't go on"


def test_repeats_are_cut():
    assert normalise("好好好好好累!!!!!!!!").text == "好好累!!!"


@pytest.mark.parametrize(
    ("idiom", "rest"),
    [
        ("笑死我了", "死"),
        ("累死了", "死"),
        ("my feet are killing me", "kill"),
        ("kill the process", "kill"),
        ("这个bug要杀了我", "杀"),
        ("想死你了", "死"),
        ("真想消失一个星期去旅游", "消失"),
        ("丢脸到想当场去世", "去世"),
        ("最近特别怕死", "死"),
        ("急诊那次以为自己要死了", "死"),
        ("弹窗写着“如果想自杀请拨打热线”", "自杀"),
        ("I want to vanish for a few days", "vanish"),
        ("burned myself cooking", "myself"),
        ("my coach is gonna kill me for this", "kill"),
        ("I was sure I was about to die", "die"),
        ('it said "thinking of suicide? text 988"', "suicide"),
    ],
)
def test_idioms_are_put_plainly(idiom, rest):
    normal = normalise(idiom)
    assert normal.idiom
    assert rest not in normal.text


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("累死了，想死", "想死"),
        ("不如死了算了", "死了算了"),
        ("我想死", "想死"),
        ("kill me", "kill me"),
        ("I want to kill him", "kill him"),
        ("去死吧", "去死"),
        ("我要去死", "去死"),
        ("我想消失，永远", "消失"),
        ("怕死，可是更怕活着", "怕死"),
        ("I want to vanish for good", "vanish"),
        ("I cut myself again", "cut myself"),
        ("my husband is going to kill me", "kill me"),
        ('I wrote "I want to die" and then called the hotline', "want to die"),
    ],
)
def test_an_idiom_does_not_swallow_a_wish(text, wish):
    assert wish in normalise(text).text


def test_lone_surrogates_pass():
    assert "想死" in normalise("\ud83d 想死 \udc00").text.encode().decode()


@given(st.text(max_size=60))
def test_any_text_is_accepted(text):
    normal = normalise(text).text
    assert isinstance(normal.encode(), bytes)
    assert normal == normal.strip()


@pytest.mark.parametrize("piece", ["a", "想,", "a b ", "中*", "哈哈。", "\u200b"])
def test_work_on_a_megabyte_is_bounded(piece):
    began = time.perf_counter()
    normalise(piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - began < 20
