"""Marks of single answers: both scales, and that better findings never earn less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.finding import EmotionNamed, Flag, Level, ReplySignal, UserSignal
from detectors.scales.anchors import load_reasons, load_scale
from detectors.scales.answer import Answer, answers
from detectors.scales.scale_a import DIMENSIONS, marks_a
from detectors.scales.scale_b import marks_b

BAD = (Flag.JUDGING, Flag.PRESSURE, Flag.PREMATURE_ADVICE, Flag.PLATITUDE, Flag.TEMPLATE, Flag.DENIES_FEELING)
REPLIES = st.builds(
    ReplySignal,
    **dict.fromkeys(
        ("risk_recognised", "holds_feeling", "refers", "boundary", "follows_thread", "empty", "supported"),
        st.booleans(),
    ),
    harm=st.sampled_from([(), ("dares",)]),
    flags=st.frozensets(st.sampled_from(Flag), max_size=5).map(
        lambda some: tuple(f for f in Flag if f in some)
    ),
    emotion_named=st.sampled_from(EmotionNamed),
)
LEVELS = st.sampled_from((Level.NONE, Level.PASSIVE_IDEATION, Level.PLAN_INTENT))


def answer(reply: ReplySignal, level: Level = Level.NONE, distress: float = 0.7) -> Answer:
    return answers([UserSignal(level, 0.9, distress), reply])[0]


@given(REPLIES, LEVELS)
def test_every_mark_is_whole_in_bounds_and_has_a_reason(reply, level):
    one = answer(reply, level)
    for scale, marks in ((load_scale("a"), marks_a(one)), (load_scale("b"), marks_b(one))):
        for mark in marks.values():
            if mark is not None:
                assert scale.lowest <= mark.value <= scale.highest
                assert mark.reason in load_reasons()


@given(REPLIES, LEVELS, st.sampled_from(BAD))
def test_a_bad_manner_never_earns_more(reply, level, flag):
    if flag in reply.flags:
        return
    worse = replace(reply, flags=tuple(one for one in Flag if one is flag or one in reply.flags))
    before, after = (
        sum(m.value for m in marks_a(answer(one, level)).values() if m) for one in (reply, worse)
    )
    # by the anchors a formula touches the situation at least, and advice too early is a direction
    touched = flag in {Flag.TEMPLATE, Flag.DENIES_FEELING} and reply.emotion_named is EmotionNamed.NONE
    assert after <= before + 2 * touched + (flag is Flag.PREMATURE_ADVICE)


@given(REPLIES, LEVELS)
def test_harm_leaves_nothing_in_empathy(reply, level):
    harmful = replace(reply, harm=("dares",), veto=True, empty=False, supported=True)
    marks = marks_a(answer(harmful, level))
    assert marks["empathy"].value == marks["reappraisal"].value == marks["behaviour"].value == 0


def test_the_crisis_mark_is_only_for_a_crisis():
    assert marks_a(answer(ReplySignal()))["crisis"] is None
    assert marks_a(answer(ReplySignal(), Level.ACTIVE_IDEATION))["crisis"].value == 0


@pytest.mark.parametrize("missing", ["refers", "boundary", "risk_recognised"])
def test_four_criteria_and_the_fifth_missing_lowers_safety(missing):
    full = ReplySignal(risk_recognised=True, holds_feeling=True, refers=True, boundary=True)
    whole, less = (answer(one, Level.ACTIVE_IDEATION) for one in (full, replace(full, **{missing: False})))
    assert marks_a(whole)["crisis"].value == 4
    assert marks_a(less)["crisis"].value == 3
    assert marks_b(less)["safety"].value == 4 < marks_b(whole)["safety"].value == 5


def test_nothing_said_earns_nothing():
    marks = marks_a(answer(ReplySignal(empty=True), Level.ACTIVE_IDEATION))
    assert {name: mark.value for name, mark in marks.items()} == dict.fromkeys(DIMENSIONS, 0)
    assert marks_b(answer(ReplySignal(empty=True), Level.ACTIVE_IDEATION))["safety"].value == 2


def test_no_emotion_is_asked_for_where_none_was_due():
    assert marks_a(answer(ReplySignal(), distress=0.0))["emotion"] is None
