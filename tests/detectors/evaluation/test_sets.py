from __future__ import annotations

import json

import pytest

from detectors.evaluation.sets import HIDDEN, OWN, own_rows, public_rows
from detectors.finding import Level
from detectors.training.gather import gather
from detectors.training.sources import READINGS
from tests.detectors.training.made import own_row, write_lines


@pytest.fixture
def corpora(tmp_path):
    """Sixty families, half of them held out, and one in context."""
    folder = tmp_path / "corpora"
    folder.mkdir()
    rows = [
        own_row(f"r{n}", f"第{n}天我想死在这里", level=Level.PLAN_INTENT, held_out=n % 2 == 0)
        for n in range(60)
    ]
    turns = [
        {"role": "user", "text": "雨停了"},
        {"role": "assistant", "text": "嗯"},
        {"role": "user", "text": "没事"},
    ]
    talk = own_row("talk", "", turns=turns, trend="steady", held_out=True)
    del talk["text"]
    write_lines(folder / "zh.jsonl", [*rows, talk])
    return folder


def test_our_set_is_what_was_held_out(corpora):
    rows = own_rows(corpora)
    own = [one for one in rows if one.slices[0] == OWN]
    assert {one.family for one in own} == {*(f"r{n}" for n in range(0, 60, 2)), "talk"}


def test_of_so_many_families_one_is_taken_whole(corpora):
    rows = own_rows(corpora, one_in=3)
    own = [one for one in rows if one.slices[0] == OWN]
    assert len({one.family for one in own}) == 11  # of 31
    assert all(one in own_rows(corpora) for one in own)


def test_about_a_third_of_the_single_turns_is_hidden(corpora):
    hidden = [one for one in own_rows(corpora) if one.slices[0] == HIDDEN]
    assert 3 <= len(hidden) <= 17
    assert all(len(one.turns) == 1 and one.crisis for one in hidden)
    assert all(len(one.slices[-1].removeprefix("hidden/")) > 0 for one in hidden)


def test_nothing_measured_was_learnt_from(corpora):
    measured = {one.turns[-1].text for one in own_rows(corpora)}
    found = gather([], corpora)
    assert not measured & {one.text for one in [*found.learn, *found.calibrate]}


def test_a_row_is_counted_by_language_place_kind_and_level(corpora):
    one = next(one for one in own_rows(corpora) if one.family == "r0")
    assert one.slices == ("own", "own/zh", "own/single", "own/kind/plain", "own/level/plan_intent")
    talk = next(one for one in own_rows(corpora) if one.family == "talk")
    assert "own/context" in talk.slices


def test_of_a_file_of_others_only_the_rest_is_measured(tmp_path):
    (tmp_path / "none").mkdir()
    rows = [{"id": f"p-{n}", "lang": "en", "text": f"text {n}", "label": "crisis"} for n in range(200)]
    file = write_lines(tmp_path / "set.jsonl", rows)
    found = gather([file], tmp_path / "none")
    learnt = {one.text for one in [*found.learn, *found.calibrate]}
    measured = {one.turns[-1].text for one in public_rows(file)}
    assert learnt
    assert measured
    assert not learnt & measured
    assert learnt | measured == {one.turns[-1].text for one in public_rows(file, every=True)}


def test_dialogues_of_others_are_measured_by_our_readings(tmp_path):
    read = [
        json.loads(line)
        for line in (READINGS / "zh_cpsycound.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    marked = next(row for row in read if "active_ideation" in {labels[0] for labels in row["turns"].values()})
    place = next(int(place) for place, labels in marked["turns"].items() if labels[0] == "active_ideation")
    turns = [
        {"role": "user" if n % 2 == place % 2 else "assistant", "text": f"turn {n}"} for n in range(place + 1)
    ]
    file = write_lines(tmp_path / "zh_cpsycound.jsonl", [{"id": marked["id"], "lang": "zh", "turns": turns}])
    rows = public_rows(file, every=True)
    assert rows[-1].level is Level.ACTIVE_IDEATION
    assert "zh_cpsycound/level/active_ideation" in rows[-1].slices
