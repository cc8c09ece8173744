"""What the shipped model keeps on families nothing was fitted on, and what happens to weights that do not keep it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from detectors.crisis import TrainedScorer
from detectors.crisis.calibration import load_calibration
from detectors.crisis.model import SHIPPED, load_model
from detectors.crisis.reader import shipped_reader
from detectors.encoder import EncoderError, load_engine
from detectors.encoder.acceptance import check, record
from detectors.encoder.adapter import read_adapter
from detectors.encoder.prepare import Prepared
from detectors.evaluation.evaluate import Evaluation, evaluate, evaluate_replies
from detectors.evaluation.floors import REPLIES, Floors, load_floors, shortfalls
from detectors.evaluation.judge import judge
from detectors.evaluation.keywords import KeywordScorer
from detectors.evaluation.sets import own_rows
from detectors.reply.encoded import EncodedReplyScorer
from detectors.reply.remembered import RememberedReplies
from detectors.reply.scorer import PatternReplyScorer
from detectors.training.replies import read_replies

QUICK = 3  # one family in so many: ``make evaluate`` takes them all
PATIENCE = 900  # seconds: engines read thousands of texts, and the machine may be busy with other tests


@pytest.mark.model
@pytest.mark.timeout(PATIENCE)
@pytest.mark.xdist_group("encoder")
def test_the_shipped_model_keeps_its_floors(engine):
    scorer, replies = TrainedScorer(engine), RememberedReplies(engine)
    found = evaluate(scorer, replies, shipped_reader(), [], lambda *_: None, one_in=QUICK)
    floors = {name: asked for name, asked in load_floors().sets.items() if name != REPLIES}
    assert shortfalls(found, Floors(floors)) == []


@pytest.mark.model
@pytest.mark.timeout(PATIENCE)
@pytest.mark.xdist_group("encoder")
def test_the_shipped_heads_keep_the_floors_of_replies(engine):
    replies = evaluate_replies(EncodedReplyScorer(engine), read_replies(), lambda *_: None)
    found = Evaluation({}, {}, {}, {}, replies)
    assert shortfalls(found, Floors({REPLIES: load_floors().sets[REPLIES]})) == []


def test_a_keyword_list_does_not():
    found = evaluate(KeywordScorer(), None, None, [], lambda *_: None, one_in=QUICK)
    short = shortfalls(found, load_floors())
    assert any(line.startswith("own: recall 0.") for line in short)
    assert "replies was not measured" in short


def test_phrases_alone_do_not_keep_the_floors_of_replies():
    replies = evaluate_replies(PatternReplyScorer(), read_replies()[::4], lambda *_: None)
    found = replace(evaluate(KeywordScorer(), None, None, [], lambda *_: None, one_in=QUICK), replies=replies)
    floors = load_floors().sets[REPLIES]
    short = shortfalls(found, Floors({REPLIES: floors}))
    assert any(line.startswith("replies: outcome 0.") for line in short)
    assert any(line.endswith(f"asked at least {floors['criteria']:.3f}") for line in short)


def test_a_set_that_was_not_measured_falls_short():
    found = evaluate(KeywordScorer(), None, None, [], lambda *_: None, one_in=QUICK)
    assert shortfalls(found, Floors({"another": {"recall": 0.1}})) == ["another was not measured"]


@pytest.mark.model
@pytest.mark.timeout(PATIENCE)
@pytest.mark.xdist_group("encoder")
def test_int8_and_fp32_decide_alike(prepared, engine):
    rows = own_rows()[::12]
    model, calibration = load_model(), load_calibration()
    decided = []
    for one in (engine, load_engine("fp32", prepared)):
        scorer = TrainedScorer(one, model, calibration)
        judged = judge(rows, scorer, RememberedReplies(one, model), shipped_reader())
        decided.append([found.signal.level.crisis for found in judged])
    alike = sum(a is b for a, b in zip(*decided, strict=True))
    assert alike / len(rows) >= 0.995


def prepared_on(weights: str) -> Prepared:
    return Prepared("some-identity", Path(), Path(), weights, SHIPPED)


def test_the_weights_it_was_trained_on_need_no_evaluation(tmp_path):
    check(prepared_on(read_adapter(SHIPPED).base), tmp_path)


def test_other_weights_are_refused_until_they_have_kept_the_floors(tmp_path):
    with pytest.raises(EncoderError, match="run jiezhu evaluate"):
        check(prepared_on("other"), tmp_path)
    record(prepared_on("other"), tmp_path)
    check(prepared_on("other"), tmp_path)
