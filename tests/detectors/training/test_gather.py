from __future__ import annotations

import json

import pytest

from detectors.finding import Cue, Level
from detectors.training.gather import gather
from detectors.training.sources import READINGS, fitted_on
from tests.detectors.training.made import own_row, write_lines


@pytest.fixture
def corpora(tmp_path):
    """Sixty pairs and ten families held out."""
    folder = tmp_path / "corpora"
    folder.mkdir()
    rows = []
    for n in range(70):
        for level in (Level.NONE, Level.ACTIVE_IDEATION):
            text = f"第{n}天{'留下的' if n >= 60 else ''}我想死{'在路上笑' if level is Level.NONE else '没有人知道'}"
            name = f"row-{n}-{level.value}"
            rows.append(own_row(name, text, level=level, family=f"family-{n}", held_out=n >= 60))
    write_lines(folder / "zh.jsonl", rows)
    return folder


def test_no_family_is_on_both_sides(corpora):
    found = gather([], corpora)
    learnt, kept = ({one.group for one in part} for part in (found.learn, found.calibrate))
    assert learnt
    assert kept
    assert not learnt & kept
    assert len(learnt | kept) == 60


def test_what_is_held_out_is_never_gathered(corpora):
    found = gather([], corpora)
    everything = [*found.learn, *found.calibrate]
    assert not any(one.held_out for one in everything)
    assert not {one.group for one in everything} & {f"family-{n}" for n in range(60, 70)}


def test_hidden_spellings_join_their_family(corpora):
    found = gather([], corpora)
    hidden = [one for one in [*found.learn, *found.calibrate] if one.source == "hidden"]
    assert 15 < len(hidden) < 60
    assert all(Cue.OBFUSCATED in one.cues for one in hidden)
    sides = {one.group: side for side, part in (("l", found.learn), ("c", found.calibrate)) for one in part}
    assert all(one in (found.learn if sides[one.group] == "l" else found.calibrate) for one in hidden)


def test_the_same_files_give_the_same_rows(corpora):
    assert gather([], corpora) == gather([], corpora)


def test_rare_levels_count_for_more_within_bounds(tmp_path):
    rows = [own_row(f"a{n}", f"今天第{n}次想", level=Level.ACTIVE_IDEATION) for n in range(60)]
    rows += [own_row("rare", "只有这一次", level=Level.IN_PROGRESS)]
    rows += [own_row("es", "hoy llueve", lang="es")]
    write_lines(tmp_path / "a.jsonl", rows)
    found = gather([], tmp_path)
    weights = {one.group: one.weight for one in [*found.learn, *found.calibrate] if one.source != "hidden"}
    assert weights["rare"] > weights["a1"]
    assert weights["es"] > weights["a1"]
    assert all(0.8 <= one <= 1.5 for one in weights.values())


def public_row(n: int, crisis: bool, source: str | None = None) -> dict[str, object]:
    row = {"id": f"p-{n}", "lang": "en", "text": f"text {n}", "label": "crisis" if crisis else "not_crisis"}
    return row | ({"orig": {"data_source": source}} if source else {})


def test_of_other_files_only_the_fitted_part_is_learnt(tmp_path):
    (tmp_path / "none").mkdir()
    file = write_lines(tmp_path / "set.jsonl", [public_row(n, n % 2 == 0) for n in range(200)])
    found = gather([file], tmp_path / "none")
    names = [one.group for one in [*found.learn, *found.calibrate]]
    assert len(names) == len(set(names))
    assert set(names) == {name for name in (f"p-{n}" for n in range(200)) if fitted_on(name)}


@pytest.fixture
def talks(tmp_path):
    """Made-up conversations under the ids of a file we have read."""
    (tmp_path / "none").mkdir()
    read = [
        json.loads(line)
        for line in (READINGS / "zh_smilechat.jsonl").read_text(encoding="utf-8").splitlines()
    ][:120]
    rows = []
    for row in read:
        last = max(map(int, row["turns"]), default=0) + 9
        turns = [{"role": ("user", "assistant")[n % 2], "text": f"{row['id']} turn {n}"} for n in range(last)]
        rows.append({"id": row["id"], "lang": "zh", "turns": turns})
    found = gather([write_lines(tmp_path / "zh_smilechat.jsonl", rows)], tmp_path / "none")
    return read, rows, [*found.learn, *found.calibrate]


def test_every_turn_of_a_dialogue_is_learnt_from_marked_or_ordinary(talks):
    read, rows, found = talks
    marked = sum(len(row["turns"]) for row in read if fitted_on(row["id"]))
    users = sum(len(row["turns"][::2]) for row in rows if fitted_on(row["id"]))
    ordinary = [one for one in found if one.distress is None]
    assert len(found) - len(ordinary) == marked
    assert len(ordinary) == users - marked > 0
    assert all(one.level is Level.NONE for one in ordinary)


def test_dialogues_are_learnt_by_their_readings_and_only_the_fitted_ones(talks):
    read, _, found = talks
    assert {one.group for one in found} <= {row["id"] for row in read if fitted_on(row["id"])}
    labels = {
        f"{row['id']} turn {place}": level for row in read for place, (level, _, _) in row["turns"].items()
    }
    assert all(
        one.level == (None if labels[one.text] == "?" else labels[one.text])
        for one in found
        if one.text in labels
    )
    assert {one.weight for one in found} == {0.7}
