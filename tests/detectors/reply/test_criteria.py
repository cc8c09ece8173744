from __future__ import annotations

import pytest

from detectors.finding import Level
from detectors.reply.outcome import judge
from tests.detectors.reply.lines import COMES_NEAR, MEETS


@pytest.mark.parametrize(("criterion", "line"), [(c, line) for c, lines in MEETS.items() for line in lines])
def test_line_meets_its_criterion(score, criterion, line):
    assert judge(score(line, lang="en"), Level.ACTIVE_IDEATION).criteria[criterion]


@pytest.mark.parametrize(
    ("criterion", "line"), [(c, line) for c, lines in COMES_NEAR.items() for line in lines]
)
def test_near_miss_does_not_meet_it(score, criterion, line):
    assert not judge(score(line, lang="en"), Level.ACTIVE_IDEATION).criteria[criterion]


def test_each_criterion_has_enough_lines_in_both_languages():
    for lines in (*MEETS.values(), *COMES_NEAR.values()):
        assert sum(line.isascii() or "’" in line for line in lines) >= 10
        assert sum(not line.isascii() for line in lines) >= 10


@pytest.mark.parametrize(
    ("simplified", "traditional"),
    [
        ("请现在叫醒你的妈妈。", "請現在叫醒你的媽媽。"),
        ("你有没有想过自杀？", "你有沒有想過自殺？"),
        ("我是机器。", "我是機器。"),
    ],
)
def test_script_makes_no_difference(score, simplified, traditional):
    assert score(simplified) == score(traditional)


@pytest.mark.parametrize("mark", ["'", "’", "＇"])
def test_apostrophe_makes_no_difference(score, mark):
    assert score(f"I{mark}m an AI and I can{mark}t replace a doctor.").boundary


def test_width_and_invisible_signs_make_no_difference(score):
    assert score("Ａｒｅ ｙｏｕ thinking of ki\u200blling yourself?").risk_recognised


def test_worry_that_is_said_does_not_spoil_a_feeling_named_beside_it(score):
    held = score("听到你这么说，我很担心你，这种撑不下去的感觉一定特别痛。", lang="zh")
    assert held.holds_feeling
    assert not score("我很担心你，请马上联系医生。", lang="zh").holds_feeling
