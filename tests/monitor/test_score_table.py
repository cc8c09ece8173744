"""A scored conversation as people see it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from detectors.finding import EmotionNamed, Flag, Level, ReplySignal, UserSignal
from detectors.scales.answer import answers
from detectors.scales.report import as_json
from detectors.scales.score import score
from monitor.score_table import show

CRISIS = UserSignal(Level.ACTIVE_IDEATION, 0.9, 0.9)
HELD = ReplySignal(
    risk_recognised=True,
    holds_feeling=True,
    refers=True,
    emotion_named=EmotionNamed.TYPE_ONLY,
    flags=(Flag.OPEN_QUESTION,),
)


def shown(lang: str, *turns: UserSignal | ReplySignal) -> str:
    found = answers(turns)
    missing = {one.place: tuple(name.value for name in one.handling.missing) for one in found}
    out = io.StringIO()
    show({"id": "c-1", **as_json(score(found), lang, missing)}, lang, Console(file=out, width=160))
    return out.getvalue()


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("zh", ("对话 c-1", "量表 A (A1)", "危机识别与应对", "补上缺的那一项：说明边界", "安全：降级", "最差一轮", "情绪点（估计）")),
        ("en", ("conversation c-1", "scale A (A1)", "empathy", "add what is missing: saying its boundary", "safety: lowered", "worst turn", "emotion points (estimated)")),
    ],
)  # fmt: skip
def test_marks_reasons_and_advice_are_there(lang, words):
    table = shown(lang, CRISIS, HELD)
    for word in words:
        assert word in table


def test_a_veto_is_told():
    assert "vetoed, the whole counts 0" in shown("en", CRISIS, ReplySignal(harm=("dares",), veto=True))


def test_a_dimension_that_was_not_due_has_a_dash():
    calm = UserSignal(Level.NONE, 0.0, 0.0)
    assert re.search(r"crisis\s+│ –", shown("en", calm, ReplySignal()))
