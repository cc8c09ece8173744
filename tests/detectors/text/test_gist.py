from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.text.gist import KEPT, gist, joined, likeness, share_in, taken_up, words_of

TEXTS = st.text("abcdefgh 我你他的妈妈们走在路上看见了", max_size=600)


@pytest.mark.parametrize(
    ("user", "reply", "parrots"),
    [
        ("最近真的很累，每天都睡不好", "你最近真的很累，每天都睡不好。", True),
        (
            "i feel like nobody would notice if i left",
            "So you feel like nobody would notice if you left.",
            True,
        ),
        ("我妈说我没用", "你妈说你没用。", True),
        ("最近真的很累", "一天天这样撑着，是身子乏，还是心里也空了？", False),
        ("i feel like nobody would notice", "What happened before this evening?", False),
        ("", "hello there my friend, how are you", False),
    ],
)
def test_share_of_the_users_words(user, reply, parrots):
    assert (share_in(gist(reply), (gist(user),)) >= 0.45) is parrots


def test_words_of_an_earlier_turn_are_told_from_those_of_the_last():
    earlier, last = gist("新单位三个月了，食堂里没有一个熟人"), gist("今天又是一个人加班")
    assert taken_up(gist("食堂里有没有哪怕一张脸看着顺眼一点？"), (earlier,), (last,)) > 0
    assert taken_up(gist("加班到几点？一个人吗？"), (earlier,), (last,)) == 0


def test_common_words_take_nothing_up():
    assert taken_up(gist("没有人知道自己什么时候"), (gist("没有什么，自己知道时候"),), ()) <= 2


def test_the_same_text_is_most_alike():
    text = gist("I hear how heavy this winter has been for you")
    assert likeness(text, text) == 1.0
    assert likeness(text, gist("Please dial the number on the card")) == 0.0
    assert likeness("", text) == 0.0


@given(TEXTS, TEXTS, TEXTS)
def test_joining_is_a_commutative_monoid(one, other, third):
    a, b, c = gist(one), gist(other), gist(third)
    assert joined(a, b) == joined(b, a)
    assert joined(joined(a, b), c) == joined(a, joined(b, c))
    assert joined(a, "") == a == joined("", a) == joined(a, a)


@given(TEXTS, TEXTS)
def test_shares_are_shares(one, other):
    assert 0.0 <= share_in(gist(one), (gist(other),)) <= 1.0
    assert 0.0 <= likeness(gist(one), gist(other)) == likeness(gist(other), gist(one)) <= 1.0


def test_a_sketch_is_small():
    assert len(base64.b85decode(gist("".join(f"word{i} longer{i} " for i in range(500))))) == 2 * KEPT


def test_without_the_key_no_word_can_be_asked_for():
    words = [f"lantern{i}" for i in range(2000)]
    kept = words_of(gist("The lantern7 stood beside lantern8 and lantern9 all night.", b"secret"))
    asked = {word for word in words if words_of(gist(word + " ", b"")) & kept}
    assert len(asked & {"lantern7", "lantern8", "lantern9"}) < 3
    known = {word for word in words if words_of(gist(word, b"secret")) <= kept}
    assert {"lantern7", "lantern8", "lantern9"} <= known


def test_sketches_of_different_keys_have_nothing_in_common():
    text = "three grey lanterns swayed above the harbour wall"
    assert share_in(gist(text, b"one"), (gist(text, b"one"),)) == 1.0
    assert share_in(gist(text, b"one"), (gist(text, b"two"),)) < 0.3


def test_what_is_no_sketch_tells_nothing():
    assert share_in(gist("one winter evening alone"), ("~~ no sketch ~~",)) == 0.0
    assert joined("~~ no sketch ~~", "") == "~~ no sketch ~~"
