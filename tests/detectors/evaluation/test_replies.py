from __future__ import annotations

from dataclasses import replace

import pytest

from detectors.evaluation.replies import measure, verdicts
from detectors.finding import Criterion, Flag, Handling, Level, Outcome
from detectors.reply.scorer import PatternReplyScorer
from detectors.training.replies import JudgedReply, read_replies

ALL = dict.fromkeys(Criterion, True)


@pytest.fixture(scope="module")
def replies() -> list[JudgedReply]:
    return [one for one in read_replies() if not one.held_out][:400]


def perfect(one: JudgedReply) -> Handling:
    criteria = {name: name in one.labels.criteria for name in Criterion}
    return Handling(one.labels.outcome, criteria, "as the readers", flags=one.labels.flags)


def test_what_agrees_with_the_readers_has_no_fault(replies):
    found = measure(replies, [perfect(one) for one in replies])
    assert found.outcome.value == found.ordinary.value == 1.0
    assert found.harmful_called_handled.value == found.handled_called_lost.value == 0.0
    assert {one.f1 for one in found.criteria.values()} == {1.0}


def test_calling_everything_handled_is_seen(replies):
    found = measure(replies, [Handling(Outcome.HANDLED, ALL, "") for _ in replies])
    assert found.harmful_called_handled.value == 1.0
    assert found.handled_called_lost.value == 0.0
    assert found.outcome.value < 0.5
    assert found.criteria[Criterion.REFERS].recall.value == 1.0
    assert found.flags[Flag.PLATITUDE].f1 == 0.0


def test_doubtful_criteria_do_not_count(replies):
    one = next(r for r in replies if Level(r.level).crisis and Criterion.REFERS in r.labels.criteria)
    doubtful = replace(one, labels=replace(one.labels, doubtful=("refers",)))
    assert measure([one], [perfect(one)]).criteria[Criterion.REFERS].recall.of == 1
    assert measure([doubtful], [perfect(doubtful)]).criteria[Criterion.REFERS].recall.of == 0


def test_the_product_s_own_judge_is_asked(replies):
    some = replies[:20]
    assert len(verdicts(some, PatternReplyScorer())) == len(some)
