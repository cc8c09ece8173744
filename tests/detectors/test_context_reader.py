"""Turns that left memories are judged by the reader of the turns before them; the rules hold what is not the reader's."""

from __future__ import annotations

import base64
import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.context import contextual
from detectors.crisis import TrainedScorer
from detectors.crisis.calibration import Line
from detectors.crisis.memory import REACH
from detectors.crisis.reader import CLEARED, IN_CONTEXT, Reader
from detectors.distress.marks import CONTEXT, marks_in
from detectors.finding import Cue, Evidence, Level, ReplySignal, UserSignal
from detectors.reply.remembered import RememberedReplies
from tests.support.made_up_model import (
    CALIBRATION,
    LIGHTENS,
    MODEL,
    PASSES,
    READER,
    WEIGHS,
    HashedTexts,
    answered,
    asked,
    memory,
)

LOW, HIGH = -2.0, 2.0  # logits of a turn by itself


def judged(*turns: UserSignal | ReplySignal) -> list[UserSignal]:
    return contextual(turns, READER)


def reasons(signal: UserSignal) -> list[str]:
    return [evidence.source for evidence in signal.evidence if evidence.kind == CONTEXT]


def test_a_turn_is_raised_by_what_was_said_before():
    before, now = asked(WEIGHS, LOW), asked(PASSES, LOW, Level.PLAN_INTENT)
    first, last = judged(before, now)
    assert first == before
    assert (now.level, last.level) == (Level.NONE, Level.PLAN_INTENT)
    assert last.score > 0.9 > now.score
    assert reasons(last) == [IN_CONTEXT]


def test_a_turn_is_cleared_by_what_was_said_before():
    before, now = asked(LIGHTENS, LOW), asked(PASSES, HIGH)
    last = judged(before, now)[-1]
    assert (now.level, last.level) == (Level.ACTIVE_IDEATION, Level.NONE)
    assert last.score < 0.1 < now.score
    assert reasons(last) == [CLEARED]


def test_what_context_cleared_is_no_disclosure_that_later_turns_remember():
    talk = [asked(PASSES, LOW) for _ in range(3)]
    out = judged(asked(LIGHTENS, LOW), asked(LIGHTENS, HIGH), *talk)
    assert {signal.level for signal in out} == {Level.NONE}


def test_a_turn_that_context_changes_nothing_about_keeps_its_level_and_gives_no_reason():
    before, now = asked(PASSES, LOW), asked(PASSES, HIGH, Level.SELF_HARM)
    last = judged(before, now)[-1]
    assert last.level is Level.SELF_HARM
    assert reasons(last) == []


@pytest.mark.parametrize("logit", [LOW, HIGH])
def test_without_earlier_turns_a_turn_is_as_it_was(logit):
    alone = asked(WEIGHS, logit)
    assert judged(alone) == [alone]


@pytest.mark.parametrize("unreadable", ["", "abc", "\u4f60", memory(WEIGHS) + memory(WEIGHS)])
def test_a_memory_that_cannot_be_read_tells_nothing(unreadable):
    now = asked(PASSES, LOW)
    unread = dataclasses.replace(asked(WEIGHS, LOW), memory=unreadable)
    assert judged(unread, ReplySignal(memory=unreadable), now)[-1] == now
    assert judged(asked(WEIGHS, LOW), unread)[-1] == unread


def test_a_memory_that_cannot_be_read_stops_no_other():
    now, unread = asked(PASSES, LOW), ReplySignal(memory="abc")
    assert judged(asked(WEIGHS, LOW), unread, now)[-1] == judged(asked(WEIGHS, LOW), now)[-1]


def test_where_none_can_be_read_nothing_is_added_at_all():
    """What the model would add to any turn that has others before it is not added to one that has none."""
    to_all = dataclasses.replace(MODEL.context["crisis"], bias=np.array([4.0], dtype=np.float32))
    reader = Reader(dataclasses.replace(MODEL, context={**MODEL.context, "crisis": to_all}), CALIBRATION)
    now = asked(PASSES, LOW)
    assert contextual([answered(PASSES), now], reader)[-1].level is Level.ACTIVE_IDEATION
    assert contextual([ReplySignal(memory="abc"), now], reader)[-1] == now


def test_a_chance_in_context_has_a_line_of_its_own():
    doubtful = {"other": Line(1.0, -4.0)}
    reader = Reader(MODEL, dataclasses.replace(CALIBRATION, context=doubtful))
    now = asked(PASSES, HIGH)
    assert contextual([now], reader)[-1].level is Level.ACTIVE_IDEATION
    assert contextual([answered(PASSES), now], reader)[-1].level is Level.NONE


def test_a_turn_without_a_memory_among_others_is_judged_by_its_words():
    bare = UserSignal(Level.NONE, 0.05, 0.2, evidence=marks_in("我没事，开玩笑的"), language="zh")
    last = judged(asked(PASSES, HIGH, Level.PLAN_INTENT), bare)[-1]
    assert last.level is Level.PLAN_INTENT
    assert Cue.DISCLOSURE_DENIED in last.cues


@pytest.mark.parametrize("text", ["我没事，开玩笑的", "嗯"])
def test_marks_in_words_are_not_heeded_where_the_reader_has_judged(text):
    """A doubtful disclosure, then words that the rules would raise: the reader has heard them and is not worried."""
    doubtful, now = asked(PASSES, 0.2), asked(PASSES, LOW, evidence=marks_in(text))
    assert judged(doubtful, now)[-1].level is Level.NONE


def test_after_a_sure_grave_disclosure_the_danger_stays_open():
    talk = [asked(LIGHTENS, LOW) for _ in range(12)]
    out = judged(asked(PASSES, HIGH, Level.PLAN_INTENT), *talk)[1:]
    assert {signal.level for signal in out} == {Level.PASSIVE_IDEATION}
    assert all(reasons(signal)[0] == "still_open" for signal in out)


def test_nor_does_a_later_turn_that_context_clears_close_it():
    out = judged(asked(LIGHTENS, HIGH, Level.PLAN_INTENT), asked(PASSES, HIGH))
    assert out[-1].level is Level.PASSIVE_IDEATION
    assert reasons(out[-1]) == ["still_open", CLEARED]


def test_a_disclosure_only_in_context_stays_open_too():
    out = judged(asked(WEIGHS, LOW), asked(LIGHTENS, LOW, Level.PLAN_INTENT), asked(LIGHTENS, LOW))
    assert [signal.level for signal in out] == [Level.NONE, Level.PLAN_INTENT, Level.PASSIVE_IDEATION]


def test_a_steep_rise_ends_as_a_finding_by_the_chance_in_context():
    rise = [asked(PASSES, LOW, distress=distress) for distress in (0.1, 0.2, 0.35, 0.5)]
    now = asked(PASSES, LOW, distress=0.75)
    assert judged(*rise, asked(0.0, LOW, distress=0.6), now)[-1].level is Level.NONE
    last = judged(*rise, asked(0.04, LOW, distress=0.6), now)[-1]
    assert now.score < 0.3 < last.score
    assert last.level is Level.PASSIVE_IDEATION
    assert reasons(last) == ["slow_escalation"]


def test_what_the_assistant_said_counts():
    now = asked(PASSES, LOW)
    quiet, troubling = (judged(asked(PASSES, LOW), answered(w), now)[-1] for w in (PASSES, WEIGHS))
    assert (quiet.level, troubling.level) == (Level.NONE, Level.ACTIVE_IDEATION)


def test_and_counts_as_the_assistants():
    now = asked(PASSES, -4.0)
    by_user, by_assistant = (judged(one, now)[-1].score for one in (asked(0.1, LOW), answered(0.1)))
    assert by_user > by_assistant > now.score


def test_what_was_said_last_counts_most():
    now = asked(PASSES, 0.0)
    darker, lighter = ((answered(one), answered(other), now) for one, other in ((-1, 1), (1, -1)))
    assert judged(*darker)[-1].score > 0.5 > judged(*lighter)[-1].score


def test_a_turn_is_judged_by_what_has_left_the_window():
    cleared, raised = (asked(LIGHTENS, LOW), asked(PASSES, HIGH)), (asked(WEIGHS, LOW), asked(PASSES, LOW))
    for before, now in (cleared, raised):
        assert contextual([now], READER, left=[(before.memory, False)]) == judged(before, now)[1:]


def test_and_by_the_assistants_words_that_have_left_it_as_the_assistants():
    before, now = answered(0.1), asked(PASSES, -4.0)
    assert contextual([now], READER, left=[(before.memory, True)]) == judged(before, now)


def test_turns_out_of_reach_are_forgotten():
    talk, now = [answered(PASSES) for _ in range(REACH - 1)], asked(PASSES, LOW)
    assert judged(answered(WEIGHS), *talk, now)[-1].score > now.score
    assert judged(answered(WEIGHS), answered(PASSES), *talk, now)[-1].score == pytest.approx(
        now.score, abs=1e-3
    )


@pytest.mark.parametrize("language", ["xx", "und"])
def test_in_a_language_not_trained_on_cleared_is_unscored_and_never_none(language):
    now = asked(PASSES, 4.0, language=language)
    assert judged(asked(LIGHTENS, LOW), now)[-1].level is Level.UNSCORED


MEMORIES = st.one_of(
    st.sampled_from(["", "abc"]),
    st.builds(memory, st.floats(-1, 1), st.floats(-6, 6), st.sampled_from(list(CALIBRATION.thresholds))),
)
USERS = st.builds(
    UserSignal,
    st.sampled_from(list(Level)),
    st.floats(0, 1),
    st.floats(0, 1),
    st.just(()),
    st.sampled_from([(), (Cue.SILENCE,)]),
    st.lists(st.sampled_from(["denial", "fragment", "farewell", "calm", "recovery"]), max_size=2).map(
        lambda names: tuple(Evidence(CONTEXT, name) for name in names)
    ),
    st.sampled_from(["zh", "en", "und"]),
    MEMORIES,
)
TURNS = st.lists(st.one_of(USERS, st.builds(ReplySignal, memory=MEMORIES)), max_size=12)


@given(TURNS)
def test_a_beginning_is_judged_as_in_the_whole(turns):
    whole = contextual(turns, READER)
    assert len(whole) == sum(isinstance(turn, UserSignal) for turn in turns)
    for cut in range(len(turns)):
        some = contextual(turns[:cut], READER)
        assert some == whole[: len(some)]


@given(TURNS)
def test_only_level_score_distress_cues_and_evidence_change(turns):
    own = [turn for turn in turns if isinstance(turn, UserSignal)]
    for before, after in zip(own, contextual(turns, READER), strict=True):
        kept = ("emotions", "language", "memory")
        assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
        assert after.evidence[len(after.evidence) - len(before.evidence) :] == before.evidence


def test_no_word_of_anybody_is_left_in_what_is_kept():
    marker = "蓝莓松饼 zebrafish"
    texts = [f"{marker} {n} 我今天过得不太好，不知道怎么办" for n in range(12)]
    users = TrainedScorer(HashedTexts(), MODEL, CALIBRATION).score(texts, ["zh"] * len(texts))
    replies = RememberedReplies(HashedTexts(), MODEL).score(texts, [None] * 12, [None] * 12)
    turns = [turn for pair in zip(users, replies, strict=True) for turn in pair]
    for signal in (*contextual(turns, READER), *replies):
        kept = dataclasses.asdict(signal)
        numbers = kept.pop("memory")
        assert len(base64.b85decode(numbers)) == len(MODEL.memory.bias) + 1 + len(CALIBRATION.thresholds) + 1
        assert not re.search("蓝莓|松饼|zebrafish|今天", f"{kept}")
        assert "memory" not in repr(signal)
        assert numbers not in repr(signal)
    assert len({signal.memory for signal in users}) == len(users)
