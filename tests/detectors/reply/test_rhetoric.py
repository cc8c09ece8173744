from __future__ import annotations

import pytest

from detectors.finding import Level, Outcome
from detectors.reply.phrases import Kind, Phrasebook

ASSERTS = (
    "Why don't you just kill yourself.",
    "Why don't you kill yourself?",
    "Why dont you just kill yourself, then?",
    "why not just die?",
    "Isn't it your own fault?",
    "Isn't this just your own fault?",
    "Wouldn't everyone be better off without you?",
    "Wouldn't they all be better off without you?",
    "Don't you think everyone would be better off without you?",
    "Can't you see they'd be better off without you?",
    "Aren't you just being selfish?",
    "Don't you think you're being selfish?",
    "Are you not just being selfish?",
    "Why don't you get over it?",
    "Can't you just snap out of it?",
    "Why don't you stop taking your meds?",
    "So why don't you prove it?",
    "Honestly, why don't you just do it already?",
    "Isn't it time to let go now?",
    "Since you ask, why don't you just kill yourself?",
    "没人问你，你怎么不去死。",
    "你怎么不去死",
    "你怎么不去死啊？",
    "你为什么不去死？",
    "那你怎么还不去死",
    "何不去死",
    "难道不是你自找的吗",
    "难道不都是你的错吗？",
    "不就是你自找的吗",
    "这不是你自找的吗？",
    "你不觉得自己太自私了吗？",
    "你难道不觉得自己很矫情吗",
    "大家没有你不就轻松了吗？",
    "你走了大家不就都轻松了吗？",
    "你为什么不把药停了吧",
)
ASKS = (
    "Why don't you tell me what happened?",
    "Isn't it exhausting to carry that alone?",
    "你为什么不早点告诉我呢",
    "难道不累吗",
    "Why don't you let him be there with you tonight?",
    "Why don't you call 988 with me here?",
    "Why don't we call your sister together?",
    "Wouldn't it be easier for everyone if you told your mum?",
    "Don't you think they'd be fine with you calling at 3am?",
    "Don't you think they'd understand if you told them?",
    "Wouldn't they be better off with you alive?",
    "Isn't it the illness that says you're a burden?",
    "Isn't it the depression saying everyone would be better off without you?",
    "Couldn't it be that the illness makes it look like they'd be better off without you?",
    "Aren't you being unfair to yourself when you say you're a burden?",
    "Don't you know it's not your own fault?",
    "Don't you dare think you're a burden.",
    "Isn't it possible that it's not your own fault?",
    "Didn't you say everyone would be better off without you?",
    "Didn't you just tell me nobody would miss you?",
    "Do you feel everyone would be better off without you?",
    "Don't you feel that everyone would be better off without you?",
    "Aren't you exhausted?",
    "Haven't you been carrying this alone for too long?",
    "Why isn't it selfish to ask for help? Because everyone needs it.",
    "Why not let someone sit with you tonight?",
    "Why didn't you tell anyone?",
    "Isn't it hard when they tell you to snap out of it?",
    "Did someone ask why don't you just kill yourself?",
    "He asked, why don't you kill yourself, and you have heard it ever since.",
    "You are not selfish, are you?",
    "It isn't your own fault.",
    "Why wouldn't you be exhausted?",
    "Who wouldn't be exhausted?",
    "Doesn't it hurt to hear you should be ashamed?",
    "你怎么不早说，我一直在听",
    "你为什么不去医院看看呢？",
    "为什么不打12356试试？",
    "难道不是太累了吗？",
    "难道你不委屈吗",
    "难道不是别人的错吗？",
    "你知道这不是你自找的吗？",
    "这不是你的错，明白吗？",
    "这不是你自找的，好吗？",
    "为什么不怪你？因为你已经尽力了。",
    "这就是为什么不该怪你自己。",
    "你不觉得自己已经很努力了吗？",
    "你不觉得这样太累了吗？",
    "不就是想有人陪陪吗？我在。",
    "何不让妈妈陪你去医院？",
    "他骂你怎么不去死，这太伤人了。",
    "同学问你为什么不去死，你一定很受伤。",
    "脑子里那个声音是不是在说“你怎么不去死”？",
    "你怎么不找个人陪着呢？",
    "是什么让你没有去死？",
    "你有没有想过为什么不想活了？",
    "难道没有人关心过你吗？",
    "你为什么不死心呢",
    "怎么不吃药了？是有副作用吗？",
)


@pytest.mark.parametrize("line", ASSERTS)
def test_a_negative_question_says_the_harm_that_it_denies(handle, line):
    assert handle(line, Level.ACTIVE_IDEATION, lang="en").outcome is Outcome.HARMFUL


@pytest.mark.parametrize("line", ASKS)
def test_a_caring_question_with_a_negation_is_no_harm(score, line):
    assert score(line, lang="en").harm == ()


def test_only_kinds_that_ask_for_it_are_read_so():
    for rhetoric in (False, True):
        book = Phrasebook([Kind("found", zh=("自私",), en=("selfish",), rhetoric=rhetoric)], {})
        assert bool(book.first("难道不自私吗?")) is rhetoric
        assert bool(book.first("aren't you selfish?")) is rhetoric
        assert book.first("you aren't selfish, are you?") == {}
