from __future__ import annotations

import math

import pytest

from detectors.evaluation.dialogues import Dialogue, detect, read_dialogues
from detectors.evaluation.rows import Row
from detectors.training.sources import fitted_on
from tests.detectors.evaluation.scripted import ScriptedReplies, ScriptedUsers
from tests.detectors.training.made import said, write_lines
from tests.support.made_up_model import READER


def dialogue(*texts: str, persona: str = "High", first: int | None = None) -> Dialogue:
    return Dialogue(Row(said(*texts), "zh", None, ("set",)), persona, first)


def found(*dialogues: Dialogue):
    return detect(dialogues, ScriptedUsers(), ScriptedReplies(), READER)


def test_grave_personas_are_found_or_missed():
    measured = found(
        dialogue("a", ">b", "risky", persona="High"),
        dialogue("a", ">b", "c", persona="Imminent"),
        dialogue("risky", persona="Low"),
        dialogue("risky", persona="None"),
    )
    assert (measured.found.value, measured.found.of) == (0.5, 2)


def test_a_persona_without_risk_is_to_be_let_be():
    measured = found(
        dialogue("a", ">b", "c", persona="None"),
        dialogue("a", ">b", "risky", persona="None"),
        dialogue("risky", persona="Low"),
    )
    assert (measured.flagged_calm.value, measured.flagged_calm.of) == (0.5, 2)


def test_in_time_is_at_or_before_the_reader():
    measured = found(
        dialogue("risky", ">b", "c", first=0),
        dialogue("risky", ">b", "c", first=2),
        dialogue("a", ">b", "risky", first=0),
        dialogue("a", ">b", "c", first=0),
        dialogue("risky", first=None),
    )
    assert (measured.in_time.value, measured.in_time.of) == (0.5, 4)


def test_delay_is_in_user_turns_over_those_found():
    late = [dialogue("a", ">b", "c", ">d", "risky", first=first) for first in (0, 2, 4)]
    early = dialogue("risky", ">b", "c", first=2)
    missed = dialogue("a", ">b", "c", first=0)
    assert found(*late, early, missed).delay == pytest.approx((2 + 1 + 0 + 0) / 4)


def test_what_a_reader_would_let_pass_is_counted_by_itself():
    measured = found(dialogue("risky", first=None), dialogue("a", first=None), dialogue("risky", first=0))
    assert (measured.flagged_unread.value, measured.flagged_unread.of) == (0.5, 2)


def test_turns_are_judged_in_context():
    assert found(dialogue("weighs", ">b", "fine", first=2)).in_time.value == 1
    assert found(dialogue("hello", ">weighs", "fine", first=2)).in_time.value == 1
    assert found(dialogue("hello", ">b", "fine", first=2)).in_time.value == 0


def test_without_dialogues_nothing_is_claimed():
    measured = found()
    assert measured.found.of == 0
    assert math.isnan(measured.delay)
    assert math.isnan(measured.flagged_calm.value)


@pytest.fixture
def files(tmp_path):
    """Twenty dialogues, of which all but the last have a reading."""
    names = [f"d-{n}" for n in range(20)]
    turns = [
        {"role": role, "text": text}
        for role, text in (("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"))
    ]
    data = write_lines(
        tmp_path / "talk.jsonl",
        [{"id": name, "lang": "en", "severity": "High", "turns": turns} for name in names],
    )
    (tmp_path / "readings").mkdir()
    write_lines(
        tmp_path / "readings" / "talk.jsonl",
        [{"id": name, "turns": {}, "first": n % 2 * 2} for n, name in enumerate(names[:-1])],
    )
    return data, tmp_path / "readings", names


def test_those_learnt_from_are_left_out(files):
    data, readings, names = files
    kept = [name for name in names if not fitted_on(name)]
    assert 0 < len(read_dialogues(data, readings)) == len(kept) < len(names)


def test_every_one_is_read_when_asked_for(files):
    data, readings, _names = files
    found = read_dialogues(data, readings, every=True)
    assert [one.first for one in found] == [n % 2 * 2 for n in range(19)] + [None]
    assert {one.persona for one in found} == {"High"}
    assert {one.row.turns for one in found} == {said("a", ">b", "c")}
    assert {one.row.slices for one in found} == {("talk",)}
