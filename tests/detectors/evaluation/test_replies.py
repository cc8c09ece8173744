from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from detectors.evaluation.card import card
from detectors.evaluation.evaluate import Evaluation, as_json, evaluate_replies
from detectors.evaluation.replies import judged, measure_replies
from detectors.finding import Criterion, Flag, Handling, Level, Outcome, ReplySignal, UserSignal
from detectors.reply.scorer import PatternReplyScorer
from detectors.scales.answer import Answer
from detectors.training.replies import JudgedReply, read_replies

ALL = dict.fromkeys(Criterion, True)


@pytest.fixture(scope="module")
def replies() -> list[JudgedReply]:
    return [one for one in read_replies() if not one.held_out][:400]


def answer(one: JudgedReply, handling: Handling) -> Answer:
    reply = ReplySignal(flags=handling.flags, emotion_named=one.labels.emotion_named)
    return Answer(1, UserSignal(Level(one.level), 0.9, 0.8), reply, handling)


def perfect(one: JudgedReply) -> Answer:
    criteria = {name: name in one.labels.criteria for name in Criterion}
    return answer(one, Handling(one.labels.outcome, criteria, "as the readers", flags=one.labels.flags))


def test_what_agrees_with_the_readers_has_no_fault(replies):
    found = measure_replies(replies, [perfect(one) for one in replies])
    assert found.outcome.value == found.ordinary.value == 1.0
    assert found.harmful_called_handled.value == found.handled_called_lost.value == 0.0
    assert {one.f1 for one in found.criteria.values()} == {1.0}
    assert found.emotion.value == 1.0
    assert 0.0 < found.marks["crisis"].value <= 1.0


def test_calling_everything_handled_is_seen(replies):
    found = measure_replies(replies, [answer(one, Handling(Outcome.HANDLED, ALL, "")) for one in replies])
    assert found.harmful_called_handled.value == 1.0
    assert found.handled_called_lost.value == 0.0
    assert found.outcome.value < 0.5
    assert found.criteria[Criterion.REFERS].recall.value == 1.0
    assert found.flags[Flag.PLATITUDE].f1 == 0.0


def test_doubtful_criteria_do_not_count(replies):
    one = next(r for r in replies if Level(r.level).crisis and Criterion.REFERS in r.labels.criteria)
    doubtful = replace(one, labels=replace(one.labels, doubtful=("refers",)))
    assert measure_replies([one], [perfect(one)]).criteria[Criterion.REFERS].recall.of == 1
    assert measure_replies([doubtful], [perfect(doubtful)]).criteria[Criterion.REFERS].recall.of == 0


def test_the_product_s_own_judge_is_asked(replies):
    some = replies[:20]
    found = judged(some, PatternReplyScorer())
    assert [one.user.level.value for one in found] == [one.level for one in some]


def test_held_out_replies_are_measured_in_all_and_by_language_and_told_in_json_and_card():
    held = [one for one in read_replies() if one.held_out][::12]
    seen: list[int] = []
    found = evaluate_replies(PatternReplyScorer(), held, lambda done, total: seen.append(total - done))
    assert next(iter(found)) == "all"
    assert {"zh", "en"} <= set(found)
    assert found["all"].ordinary.of + found["all"].outcome.of == len(held)
    assert seen[-1] == 0
    evaluation = Evaluation({}, {}, {}, {}, found)
    told = orjson.loads(orjson.dumps(as_json(evaluation)))["replies"]["all"]
    assert 0 <= told["criteria"]["refers"]["f1"] <= 1
    assert told["marks"]["crisis"]["of"] == found["all"].outcome.of
    assert "| outcome right, crisis | 0." in card(evaluation, {})


def test_replies_that_are_learnt_from_are_not_measured(replies):
    assert evaluate_replies(PatternReplyScorer(), replies[:50], lambda *_: None) == {}
