"""What a reply is beside what was said before it."""

from __future__ import annotations

import pytest

from detectors.finding import EmotionNamed, Flag, Level, ReplySignal, UserSignal
from detectors.reply.merge import NOTHING
from detectors.reply.relation import NAMED_TOO_WEAK, related
from detectors.text.gist import gist


def user(text: str, distress: float = 0.3) -> UserSignal:
    return UserSignal(Level.NONE, 0.0, distress, gist=gist(text))


def test_a_reply_of_the_users_own_words_is_an_echo(score):
    reply = score("你最近真的很累，每天都睡不好。")
    assert Flag.ECHO in related(reply, [user("最近真的很累，每天都睡不好")], [], []).flags
    assert Flag.ECHO not in related(reply, [user("今天食堂的鱼不错")], [], []).flags


@pytest.mark.parametrize(
    ("earlier", "last", "reply", "lang"),
    [
        (
            "上个月换了科室，新科室的人我一个都叫不出名字",
            "今天又是一个人吃的饭",
            "你提到的新科室里，有没有哪个人让你觉得没那么陌生？",
            "zh",
        ),
        (
            "my grandmother taught me to bake, she died in spring",
            "couldn't get up today",
            "You mentioned your grandmother and the baking. What would she have said this morning?",
            "en",
        ),
    ],
)
def test_taking_up_an_earlier_turn_is_a_reference_back(score, earlier, last, reply, lang):
    signal = score(reply, lang=lang)
    assert Flag.BACK_REFERENCE in related(signal, [user(last)], [user(earlier)], []).flags
    assert Flag.BACK_REFERENCE not in related(signal, [user(last)], [], []).flags
    assert Flag.BACK_REFERENCE not in related(signal, [user(earlier)], [], []).flags


def test_the_same_reply_again_is_a_template(score):
    first = score("我能理解你的感受，放轻松，一切都会好起来的。")
    again = score("我能理解你的感受，放轻松，一切都会好起来的哦。")
    assert Flag.TEMPLATE in related(again, [user("我又没睡着")], [], [first]).flags
    other = score("凌晨三点醒着，脑子停不下来，那有多熬人。")
    assert Flag.TEMPLATE not in related(other, [user("我又没睡着")], [], [first]).flags


def test_the_third_soothing_formula_in_a_row_is_a_template(score):
    first = score("听起来你有点累，辛苦了。")
    second = score("我能理解你的感受，放轻松。")
    third = score("抱抱，这些都很常见。")
    assert Flag.TEMPLATE not in related(third, [user("睡不着")], [], [second]).flags
    found = related(third, [user("睡不着")], [], [first, second])
    assert Flag.TEMPLATE in found.flags
    assert "same_formula_again" in {one.source for one in found.evidence}
    held = score("凌晨还醒着，累得眼睛都睁不开，脑子却停不下来，太熬人了。")
    assert Flag.TEMPLATE not in related(held, [user("睡不着")], [], [first, second]).flags


def test_a_great_distress_called_a_slight_one_is_named_too_weakly(score):
    reply = score("听到你有点委屈，这种孤单太难熬了。")
    assert reply.emotion_named is EmotionNamed.TYPE_AND_STRENGTH
    weak = related(reply, [user("我真的快撑不住了", distress=0.9)], [], [])
    assert weak.emotion_named is EmotionNamed.TYPE_ONLY
    assert NAMED_TOO_WEAK in {one.source for one in weak.evidence}
    assert (
        related(reply, [user("有点烦", distress=0.3)], [], []).emotion_named is EmotionNamed.TYPE_AND_STRENGTH
    )


def test_nothing_said_stays_nothing():
    assert related(NOTHING, [user("hello")], [], []) == NOTHING
    assert related(ReplySignal(), [user("hello")], [], []) == ReplySignal()


def test_evidence_names_kinds_and_sentences_and_no_words(score):
    reply = score("你一定累透了。有没有想过自杀？我只是AI，替不了医生。现在就拨12356。")
    found = {(one.kind, one.window) for one in reply.evidence}
    assert ("risk_recognised", 1) in found
    assert ("boundary", 2) in found
    assert all(one.source.isascii() for one in reply.evidence)
