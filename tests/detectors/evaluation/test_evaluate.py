from __future__ import annotations

import json
import struct

import pytest

from detectors.evaluation.evaluate import Evaluation, as_json, evaluate
from detectors.evaluation.keywords import KeywordScorer
from detectors.evaluation.picture import draw
from detectors.finding import Level
from detectors.training.sources import READINGS
from tests.detectors.evaluation.scripted import ScriptedReplies, ScriptedUsers
from tests.detectors.training.made import own_row, write_lines
from tests.support.made_up_model import READER

PERSONAS = "en_vera_mh_dialogues.jsonl"


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    rows = []
    for n in range(12):
        rows.append(own_row(f"r{n}", f"第{n}天我想死", level=Level.SELF_HARM, family=f"f{n}", held_out=True))
        rows.append(own_row(f"s{n}", f"第{n}天去看海", family=f"f{n}", held_out=True))
    rows.append(own_row("learnt", "别的话"))
    write_lines(folder / "zh.jsonl", rows)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One set without a crisis in it, and simulated personas."""
    place = tmp_path_factory.mktemp("data")
    safe = [{"id": f"p-{n}", "lang": "en", "text": f"text {n}", "label": "not_crisis"} for n in range(60)]
    read = [json.loads(line) for line in (READINGS / PERSONAS).read_text(encoding="utf-8").splitlines()]
    talks = [
        {
            "id": row["id"],
            "lang": "en",
            "severity": ("None", "High")[n % 2],
            "turns": [{"role": "user", "text": ("hello", "risky")[n % 2]}],
        }
        for n, row in enumerate(read)
    ]
    return [write_lines(place / "calm.jsonl", safe), write_lines(place / PERSONAS, talks)]


@pytest.fixture(scope="module")
def evaluation(corpora, files) -> Evaluation:
    return evaluate(KeywordScorer(), None, READER, files[:1], lambda *_: None, corpora=corpora)


def test_the_held_out_families_always_take_part(evaluation):
    own = evaluation.measured["own"]
    assert own.rows == 24
    assert (own.recall.value, own.false_alarms.value) == (1, 0)
    assert evaluation.pairs["own"].value == 1
    assert evaluation.pairs["own"].of == 12


def test_slices_are_measured_where_there_are_rows_enough(evaluation):
    assert evaluation.measured["own/level/self_harm"].recall.of == 12
    assert evaluation.measured["own/kind/everyday"].rows == 12
    assert evaluation.measured["own/zh"].rows == 24
    assert "own/context" not in evaluation.measured
    assert all(one.rows >= 5 for one in evaluation.measured.values())


def test_a_file_of_others_is_a_set_of_its_own(evaluation):
    assert 10 < evaluation.measured["calm"].rows < 40
    assert len(evaluation.judged["calm"]) == evaluation.measured["calm"].rows


def test_every_row_when_asked_for(corpora, files):
    found = evaluate(KeywordScorer(), None, READER, files[:1], lambda *_: None, every=True, corpora=corpora)
    assert found.measured["calm"].rows == 60


def test_personas_are_judged_as_whole_dialogues(corpora, files):
    found = evaluate(
        ScriptedUsers(), ScriptedReplies(), READER, files, lambda *_: None, every=True, corpora=corpora
    )
    detection = found.dialogues["en_vera_mh_dialogues"]
    assert (detection.found.value, detection.found.of) == (1, 30)
    assert (detection.flagged_calm.value, detection.flagged_calm.of) == (0, 30)
    assert "en_vera_mh_dialogues" not in found.measured


def test_json_has_no_nan(evaluation):
    told = as_json(evaluation)
    text = json.dumps(told, allow_nan=False)
    assert json.loads(text) == told
    assert told["sets"]["calm"]["auroc"]["value"] is None
    assert told["sets"]["own"]["recall"] | {"low": 0} == {"value": 1.0, "low": 0, "high": 1.0, "of": 12}
    # figures only: no row and no word of it
    assert "judged" not in told
    assert "去看海" not in text


def test_the_picture_is_a_png(evaluation, tmp_path):
    draw(evaluation.judged, tmp_path / "p.png")
    raw = (tmp_path / "p.png").read_bytes()
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", raw[16:24]) == (1210, 550)
