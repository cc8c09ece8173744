from __future__ import annotations

import pytest

from detectors.crisis.reader import IN_CONTEXT
from detectors.evaluation.judge import judge, judged_turns, score_texts
from detectors.evaluation.rows import Row
from detectors.finding import Level
from tests.detectors.evaluation.scripted import ScriptedReplies, ScriptedUsers
from tests.detectors.training.made import said
from tests.support.made_up_model import READER


def row(*texts: str, lang: str = "zh") -> Row:
    return Row(said(*texts), lang, None, ("own",))


def test_each_text_is_scored_once():
    users, replies = ScriptedUsers(), ScriptedReplies()
    rows = [row("a", ">r", "b"), row("b"), row("b", ">r", "a"), row("r")]
    found = judge(rows, users, replies, READER)
    assert sorted(users.asked) == [("a", "zh"), ("b", "zh"), ("r", "zh")]
    assert replies.asked == [("r", "zh")]
    assert [one.row for one in found] == rows


def test_the_same_words_in_another_language_are_another_text():
    users = ScriptedUsers()
    judge([row("a"), row("a", lang="en")], users, None, READER)
    assert users.asked == [("a", "zh"), ("a", "en")]


def test_many_texts_go_in_parts_and_the_one_waiting_is_told():
    users, steps = ScriptedUsers(), []
    rows = [row(f"t{n}", f">r{n % 2}", "end") for n in range(600)]
    judge(rows, users, ScriptedReplies(), READER, lambda *step: steps.append(step))
    assert len(users.calls) > 1
    assert max(map(len, users.calls)) <= 256
    assert steps[-1] == (603, 603)
    assert steps == sorted(steps)


def test_only_the_last_turn_is_judged_and_in_its_context():
    first, last = judge([row("weighs"), row("weighs", "fine")], ScriptedUsers(), None, READER)
    assert first.signal.level is Level.NONE
    assert last.signal.level is Level.ACTIVE_IDEATION
    assert IN_CONTEXT in {reason.source for reason in last.signal.evidence}


@pytest.mark.parametrize(
    ("replies", "level"), [(ScriptedReplies(), Level.ACTIVE_IDEATION), (None, Level.NONE)]
)
def test_without_a_scorer_of_replies_these_tell_nothing(replies, level):
    (found,) = judge([row("hello", ">weighs", "fine")], ScriptedUsers(), replies, READER)
    assert found.signal.level is level


def test_every_user_turn_has_its_signal():
    one = row("hello", "weighs", ">r", "fine")
    heard, told = score_texts([one], ScriptedUsers(), ScriptedReplies())
    levels = [signal.level for signal in judged_turns(one, heard, told, READER)]
    assert levels == [Level.NONE, Level.NONE, Level.ACTIVE_IDEATION]


def test_a_conversation_knows_nothing_of_another():
    _, alone = judge([row("weighs"), row("fine")], ScriptedUsers(), None, READER)
    assert alone.signal.level is Level.NONE


def test_nothing_to_judge_is_no_error():
    assert judge([], ScriptedUsers(), ScriptedReplies(), READER) == []
