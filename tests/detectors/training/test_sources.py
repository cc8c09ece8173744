from __future__ import annotations

import pytest

from detectors.finding import Cue, Emotion, Level
from detectors.training.sources import FITTED, fitted_on, fold_of, read_corpora, read_dialogues, read_public
from detectors.turn import Role
from tests.detectors.training.made import own_row, said, write_lines


def test_a_row_of_ours_keeps_all_its_labels(tmp_path):
    write_lines(tmp_path / "a.jsonl", [own_row("n-1", "雨停了", level=Level.SELF_HARM, family="rain")])
    (found,) = read_corpora(tmp_path)
    assert (found.source, found.group, found.lang, found.turns) == ("a", "rain", "zh", said("雨停了"))
    assert (found.crisis, found.level, found.kind) == (True, Level.SELF_HARM, "plain")
    assert (found.emotions, found.cues) == ({Emotion.SADNESS}, {Cue.MASKING})
    assert (found.distress, found.trend, found.held_out) == (1, None, False)
    assert found.single


def test_files_come_in_the_order_of_their_names(tmp_path):
    for name in ("c", "a", "b"):
        write_lines(tmp_path / f"{name}.jsonl", [own_row(name, name)])
    assert [one.source for one in read_corpora(tmp_path)] == ["a", "b", "c"]


def test_only_users_and_assistants_are_heard(tmp_path):
    turns = [
        {"role": role, "text": role}
        for role in ("system", "user", "assistant", "tool", "human_agent", "user")
    ]
    row = own_row("n-1", "", turns=turns, trend="rising")
    del row["text"]
    write_lines(tmp_path / "a.jsonl", [row])
    (found,) = read_corpora(tmp_path)
    assert [one.role for one in found.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert found.trend == "rising"
    assert not found.single


def test_an_unknown_level_of_ours_is_an_error(tmp_path):
    write_lines(tmp_path / "a.jsonl", [own_row("n-1", "x") | {"level": "severe"}])
    with pytest.raises(ValueError, match="severe"):
        read_corpora(tmp_path)


def public(name: str, label: str | None, category: str | None = None, **more: object) -> dict[str, object]:
    return {"id": name, "lang": "en", "text": f"text of {name}", "label": label, "category": category} | more


def test_labels_of_others_become_ours(tmp_path):
    rows = [
        public("a", "crisis", "suicide_plan|social"),
        public("b", "crisis", "something_else"),
        public("c", "not_crisis", "suicide_plan"),
        public("d", "crisis", orig={"data_source": "forum"}),
    ]
    found = dict(read_public(write_lines(tmp_path / "set.jsonl", rows)))
    assert [found[name].level for name in "abcd"] == [Level.PLAN_INTENT, None, Level.NONE, None]
    assert [found[name].crisis for name in "abcd"] == [True, True, False, True]
    assert [found[name].part for name in "abcd"] == [None, None, None, "forum"]
    assert {one.source for one in found.values()} == {"set"}
    assert all((one.kind, one.distress, one.emotions) == (None, None, None) for one in found.values())


@pytest.mark.parametrize("label", ["unclear", "reply_good", None])
def test_other_labels_and_rows_without_text_say_nothing(tmp_path, label):
    rows = [public("a", label), {"id": "b", "lang": "en", "label": "crisis", "turns": []}]
    assert list(read_public(write_lines(tmp_path / "set.jsonl", rows))) == []


def test_three_of_five_ids_are_fitted_on_and_always_the_same():
    names = [f"row-{n}" for n in range(3000)]
    assert 0.57 < sum(map(fitted_on, names)) / len(names) < 0.63
    # a change here would let the model learn what earlier versions were measured on
    assert [fold_of(name) for name in ("row-0", "row-1", "row-2", "row-3")] == [2, 4, 1, 0]
    assert all(fitted_on(name) is (fold_of(name) < FITTED) for name in names)


def dialogues(tmp_path, turns, labels, **other):
    readings = tmp_path / "readings"
    readings.mkdir()
    file = write_lines(tmp_path / "talk.jsonl", [{"id": "d-1", "lang": "zh", "turns": turns}])
    write_lines(readings / "talk.jsonl", [{"id": "d-1", "turns": labels} | other])
    return [one for _, one in read_dialogues(file, readings)]


def talk(count: int) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[n % 2], "text": f"t{n}"} for n in range(count)]


def test_each_user_turn_is_judged_with_those_before_it(tmp_path):
    found = dialogues(tmp_path, talk(4), {})
    assert [one.turns for one in found] == [said("t0"), said("t0", ">t1", "t2")]
    assert {one.group for one in found} == {"d-1"}


def test_only_the_nearest_turns_are_kept(tmp_path):
    found = dialogues(tmp_path, talk(21), {})
    assert [one.text for one in found[-1].turns[-1:]] == ["t20"]
    assert [one.text for one in found[-1].turns] == [f"t{n}" for n in range(12, 21)]


def test_readings_are_honoured(tmp_path):
    found = dialogues(tmp_path, talk(5), {"2": ["plan_intent", "none", 3], "4": ["none", "none", 0]})
    assert [one.level for one in found] == [Level.NONE, Level.PLAN_INTENT, Level.NONE]
    assert [one.crisis for one in found] == [False, True, False]
    assert [one.by_itself for one in found] == [Level.NONE, Level.NONE, Level.NONE]
    # nobody has judged the distress of a turn that is not listed
    assert [one.distress for one in found] == [None, 3, 0]


def test_a_question_mark_leaves_the_label_out(tmp_path):
    found = dialogues(tmp_path, talk(3), {"0": ["?", "none", 2], "2": ["active_ideation", "?", 2]})
    assert [(one.crisis, one.level, one.by_itself) for one in found] == [
        (None, None, Level.NONE),
        (True, Level.ACTIVE_IDEATION, None),
    ]


def test_places_count_every_turn_of_the_file(tmp_path):
    turns = [{"role": "system", "text": "s"}, *talk(3)]
    found = dialogues(tmp_path, turns, {"3": ["self_harm", "self_harm", 4]})
    assert [one.level for one in found] == [Level.NONE, Level.SELF_HARM]
    assert found[1].turns == said("t0", ">t1", "t2")


def test_a_dialogue_nobody_read_is_left_out(tmp_path):
    (tmp_path / "readings").mkdir()
    file = write_lines(tmp_path / "talk.jsonl", [{"id": "d-1", "lang": "zh", "turns": talk(3)}])
    write_lines(tmp_path / "readings" / "talk.jsonl", [{"id": "d-2", "turns": {}}])
    assert list(read_dialogues(file, tmp_path / "readings")) == []


def test_only_a_newline_ends_a_row(tmp_path):
    # these end a line for some readers, and may stand in what people write
    text = "a\u2028b\u2029c\u0085d"
    write_lines(tmp_path / "a.jsonl", [own_row("n-1", text)])
    assert [one.text for one in read_corpora(tmp_path)] == [text]
    file = write_lines(tmp_path / "set.jsonl", [public("a", "crisis") | {"text": text}])
    assert [one.text for _, one in read_public(file)] == [text]
    assert [one.text for one in dialogues(tmp_path, [{"role": "user", "text": text}], {})] == [text]
