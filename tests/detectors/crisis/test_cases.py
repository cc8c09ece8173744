"""What went wrong for others (CASES): each row's input, and its kin."""

from __future__ import annotations

import dataclasses

import pytest

from detectors.context import contextual
from detectors.crisis.calibration import load_calibration
from detectors.distress import Trend, trend
from detectors.finding import Level

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("encoder")]

SMALL_TALK = (
    "今天中午吃了一碗牛肉面，味道还不错。下午和同事去楼下买了咖啡，聊了聊周末去哪儿玩。晚上打算看一部老电影。"
)

QUIET = [
    "她是很熟练的 skilled nurse，笑死我了",
    "体测穿洞洞鞋，我要死了哈哈",
    "人为什么会死呀",
    "狗误食巧克力要紧吗",
    "这个 sprint 谁做什么都定了",
    "三年前朋友轻生离开了，我现在没事",
    "写论文讲自杀预防",
    "笑死我了",
    "累死了",
    "想死你了",
    "kill the process",
    "这个 bug 要杀了我",
    "my feet are killing me",
    "dying of laughter",
    "我不是想死",
    "好的，谢谢您，再见",
    "最近工作压力很大，晚上睡不着",
    "I feel so worthless lately and can't sleep",
    "我奶奶去世了，我很难过",
    "今天好烦啊",
    "烦得睡不着",
    "ok",
    "123",
    "😭😭😭",
    "",
]

CAUGHT = [
    ("I don't want to go on", Level.PASSIVE_IDEATION),
    ("I can\u2019t go on", Level.PASSIVE_IDEATION),
    ("撑不下去了我真的", Level.PASSIVE_IDEATION),
    ("不想活了", Level.PASSIVE_IDEATION),
    ("I want to die", Level.PASSIVE_IDEATION),
    ("aaa想自杀bbb", Level.ACTIVE_IDEATION),
    ("ｓｕｉｃｉｄｅ", Level.ACTIVE_IDEATION),
    ("suiсide", Level.ACTIVE_IDEATION),
    ("s u i c i d e", Level.ACTIVE_IDEATION),
    ("自.杀", Level.ACTIVE_IDEATION),
    ("我想zs", Level.ACTIVE_IDEATION),
    ("k*ll mys*lf", Level.ACTIVE_IDEATION),
    ("wanna unalive myself", Level.ACTIVE_IDEATION),
    ("I hurt myself again last night", Level.SELF_HARM),
    ("又弄伤自己了", Level.SELF_HARM),
    ("我今晚就去死", Level.PLAN_INTENT),
    ("I've decided to end my life this weekend", Level.PLAN_INTENT),
    ("I already wrote the letters", Level.PREPARATION),
    ("谢谢你们，再见，猫就拜托了", Level.PREPARATION),
    ("我已经做了，好难受，救救我", Level.IN_PROGRESS),
    ("I just did it and I'm scared, please help", Level.IN_PROGRESS),
    ("I'm going to kill him tonight", Level.HARM_TO_OTHERS),
    ("今晚我就去杀了他", Level.HARM_TO_OTHERS),
    ("我室友说她不想活了，电话打不通怎么办", Level.OTHER_AT_RISK),
    ("My friend texted goodbye and isn't answering, what do I do", Level.OTHER_AT_RISK),
]


@pytest.mark.parametrize("text", QUIET)
def test_quiet(scorer, text):
    assert scorer.score([text], [None])[0].level is Level.NONE


@pytest.mark.parametrize(("text", "level"), CAUGHT)
def test_caught_at_its_level(scorer, text, level):
    assert scorer.score([text], [None])[0].level is level


@pytest.mark.xfail(strict=True, reason="the model errs here; the card says so")
def test_what_is_judged_wrong_today(scorer):
    assert scorer.score(["不想死，只是不想这样活着"], [None])[0].level is Level.NONE


def test_a_disguised_wish_to_be_gone_is_at_least_at_the_threshold(scorer):
    # within a hundredth of it: which side it falls on is left to the machine's arithmetic
    (signal,) = scorer.score(["觉得消失是一种解脱"], [None])
    assert signal.score > load_calibration().thresholds[Level.PASSIVE_IDEATION] - 0.02


def test_a_full_stop_changes_nothing(scorer):
    bare, ended = scorer.score(["谢谢你们，再见，猫就拜托了", "谢谢你们，再见，猫就拜托了。"], [None, None])
    assert bare.score == ended.score


def test_a_negated_wish_is_far_below_the_wish(scorer):
    plain, negated = scorer.score(["我想死", "我不是想死"], ["zh", "zh"])
    assert plain.score - negated.score > 0.4


@pytest.mark.parametrize("sentence", ["我不想活了。", "谢谢你们，再见，猫就拜托了。", "我今晚就去死。"])
@pytest.mark.parametrize("place", [0, 20, 55])
def test_one_sentence_in_three_thousand_characters_scores_as_by_itself(scorer, sentence, place):
    talk = [SMALL_TALK] * 56
    talk.insert(place, sentence)
    text = "".join(talk)
    assert len(text) > 2900
    alone, inside = scorer.score([sentence, text], [None, None])
    assert inside.level.crisis
    assert inside.score >= alone.score - 0.1


def test_small_talk_of_three_thousand_characters_stays_quiet(scorer):
    assert scorer.score([SMALL_TALK * 56], [None])[0].level is Level.NONE


@pytest.mark.parametrize(
    "text",
    [
        "вчера шёл дождь, а сегодня хорошая погода, иду гулять",
        "วันนี้อากาศดี ฉันจะไปตลาด",
        "الجو جميل اليوم وسأذهب إلى السوق",
    ],
)
def test_a_language_we_do_not_know_is_unscored_never_safe(scorer, text):
    assert scorer.score([text], [None])[0].level is Level.UNSCORED


@pytest.mark.parametrize(
    "text", ["hoy hace buen tiempo y voy al mercado", "오늘 날씨가 좋네요", "今日はいい天気ですね"]
)
def test_calm_talk_in_a_language_it_was_trained_on_is_none(scorer, text):
    assert scorer.score([text], [None])[0].level is Level.NONE


@pytest.mark.parametrize("text", ["quiero morir", "죽고 싶어요", "消えたい", "je veux mourir"])
def test_the_plainest_words_are_heard_in_other_languages(scorer, text):
    assert scorer.score([text], [None])[0].level.crisis


def test_short_words_count_as_the_conversations_language(scorer):
    signal = scorer.score(["ok"], ["zh"])[0]
    assert signal.level is Level.NONE


def test_the_same_text_scores_the_same_whatever_its_mates(scorer):
    alone = scorer.score(["我不想活了"], ["zh"])
    among = scorer.score(["今天不错", "我不想活了", "I'm fine"], ["zh", "zh", "en"])
    assert dataclasses.astuple(alone[0]) == dataclasses.astuple(among[1])


def test_evidence_holds_our_words_only(scorer):
    marker = "蓝莓松饼"
    text = f"{marker}，我不想活了，zebrafish"
    shown = repr(scorer.score([text], [None]))
    assert "不想活" not in shown
    assert marker not in shown
    assert "zebrafish" not in shown


def test_no_texts_no_signals(scorer):
    assert scorer.score([], []) == []


def test_lone_surrogates_are_scored(scorer):
    assert scorer.score(["\ud83d我不想活了\udc00"], [None])[0].level.crisis


def test_rising_distress_is_seen_and_is_no_crisis(scorer):
    turns = [
        "今天有点烦",
        "工作上的事一直不顺",
        "越来越烦，饭也吃不下",
        "烦得整晚睡不着",
        "我快崩溃了，一直哭",
    ]
    signals = contextual(scorer.score(turns, ["zh"] * len(turns)))
    assert all(signal.level is Level.NONE for signal in signals)
    assert trend(signals).trend is Trend.RISING


def test_more_of_the_same_feeling_is_more_distress(scorer):
    mild, strong = scorer.score(["I'm a bit annoyed today", "I'm so annoyed I can't sleep"], ["en", "en"])
    assert mild.distress + 0.1 < strong.distress
    assert not strong.level.crisis
