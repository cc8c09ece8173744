"""Every row of our corpora: its words, its family, its side, and what must never stand in it."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from detectors.finding import CRISIS_LEVELS, Cue, Emotion, Level
from detectors.training.sources import CORPORA, READINGS
from detectors.training.vocabulary import HARMLESS_KINDS, KINDS, RISKY_KINDS, TRENDS
from tests.support.sentences import FOREIGN, alike, naming_a_method, plain, starts, taken_from_others, words

SINGLE = {"id", "lang", "text", "level", "distress", "emotions", "cues", "kind", "family", "held_out"}
CONTEXT = SINGLE - {"text"} | {"turns", "trend"}
LEAST = {"zh": 4000, "en": 4000} | dict.fromkeys(["zh-Hant", "ja", "ko", "es", "pt", "fr", "de"], 300)
LEVELS = {Level.NONE, *CRISIS_LEVELS}

Row = dict[str, Any]


def texts(row: Row) -> list[str]:
    return [turn["text"] for turn in row["turns"]] if "turns" in row else [row["text"]]


def whole(row: Row) -> str:
    return " ".join(texts(row))


def risky(row: Row) -> bool:
    return Level(row["level"]).crisis


def named(rows: list[Row], wrong: Callable[[Row], object]) -> list[str]:
    """Ids of the rows with a fault, so that a failure names rows and quotes none."""
    return [row["id"] for row in rows if wrong(row)]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [
        json.loads(line)
        for file in sorted(CORPORA.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def families(rows: list[Row]) -> dict[str, list[Row]]:
    out: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        out[row["family"]].append(row)
    return out


def test_each_row_has_its_fields(rows):
    assert named(rows, lambda r: set(r) != (CONTEXT if "turns" in r else SINGLE)) == []


def test_each_field_speaks_our_words(rows):
    assert named(rows, lambda r: r["level"] not in LEVELS) == []
    assert named(rows, lambda r: r["lang"] not in LEAST) == []
    assert named(rows, lambda r: r["kind"] not in KINDS) == []
    assert named(rows, lambda r: not set(r["emotions"]) <= set(Emotion)) == []
    assert named(rows, lambda r: not set(r["cues"]) <= set(Cue)) == []
    assert named(rows, lambda r: r.get("trend", "steady") not in TRENDS) == []
    assert named(rows, lambda r: type(r["distress"]) is not int or not 0 <= r["distress"] <= 4) == []
    assert named(rows, lambda r: type(r["held_out"]) is not bool) == []
    assert named(rows, lambda r: not (isinstance(r["family"], str) and r["family"])) == []
    assert named(rows, lambda r: not all(isinstance(t, str) and t.strip() for t in texts(r))) == []


def test_nothing_is_named_twice_in_a_row(rows):
    assert named(rows, lambda r: len(set(r["emotions"])) < len(r["emotions"])) == []
    assert named(rows, lambda r: len(set(r["cues"])) < len(r["cues"])) == []


def test_a_kind_is_on_the_side_of_its_level(rows):
    assert named(rows, lambda r: r["kind"] not in (RISKY_KINDS if risky(r) else HARMLESS_KINDS)) == []


def test_a_conversation_ends_with_its_user(rows):
    several = [row for row in rows if "turns" in row]
    assert named(several, lambda r: {t["role"] for t in r["turns"]} - {"user", "assistant"}) == []
    assert named(several, lambda r: any(set(t) != {"role", "text"} for t in r["turns"])) == []
    assert named(several, lambda r: r["turns"][-1]["role"] != "user" or len(r["turns"]) < 2) == []


def test_ids_are_unique(rows):
    assert [name for name, count in Counter(row["id"] for row in rows).items() if count > 1] == []


def test_no_row_twice(rows):
    seen: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        seen["|".join(map(plain, texts(row)))].append(row["id"])
    assert [ids for ids in seen.values() if len(ids) > 1] == []


def test_no_family_on_both_sides(families):
    assert [f for f, some in families.items() if len({row["held_out"] for row in some}) > 1] == []


def test_about_a_fifth_is_held_out(rows):
    assert 0.15 < sum(row["held_out"] for row in rows) / len(rows) < 0.25


def test_no_near_duplicate_across_the_sides(rows):
    near = [
        (rows[i]["id"], rows[j]["id"])
        for i, j in alike([plain(whole(row)) for row in rows], 0.8)
        if rows[i]["held_out"] != rows[j]["held_out"]
    ]
    assert near == []


def test_near_duplicates_are_seen():
    some = [
        "today the rain fell on the roof",
        "today the rain fell on the roofs",
        "nothing of the kind was said",
    ]
    assert list(alike(some, 0.8)) == [(1, 0)]


@pytest.mark.parametrize(("lang", "least"), LEAST.items())
def test_enough_rows_of_each_language(rows, lang, least):
    mine = [row for row in rows if row["lang"] == lang]
    assert len(mine) >= least
    assert min(Counter(map(risky, mine)).values()) >= 0.2 * len(mine)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("level", CRISIS_LEVELS)
def test_enough_rows_of_each_level(rows, lang, level):
    assert sum(row["lang"] == lang and row["level"] == level for row in rows) >= 150


def test_enough_rows_of_each_harmless_kind(rows):
    kinds = Counter(row["kind"] for row in rows if row["lang"] in {"zh", "en"} and not risky(row))
    assert [kind for kind in HARMLESS_KINDS if kinds[kind] < 60] == []


def test_half_of_the_rows_stand_against_a_twin(rows, families):
    against = [row for some in families.values() if len(set(map(risky, some))) == 2 for row in some]
    assert len(against) >= len(rows) / 2


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_length_tells_nothing(rows, lang):
    middle = [
        statistics.median(len(texts(r)[-1]) for r in rows if r["lang"] == lang and risky(r) is side)
        for side in (True, False)
    ]
    assert max(middle) / min(middle) <= 1.6


@pytest.mark.parametrize("file", sorted(READINGS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_readings_hold_labels_and_no_words(file):
    labels = {*LEVELS, "?"}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert set(row) <= {"id", "turns", "first"}
        assert re.fullmatch(r"[a-z_]+-\d+", row["id"])
        assert row.get("first") is None or type(row["first"]) is int
        for place, (level, alone, distress) in row["turns"].items():
            assert place.isdecimal()
            assert {level, alone} <= labels
            assert type(distress) is int
            assert 0 <= distress <= 4


@pytest.mark.skipif(not FOREIGN.is_dir(), reason="the foreign label sets do not ship with the project")
def test_no_sentence_of_others(rows):
    # what everybody says ("i wish i was dead") will be found anywhere; a whole sentence will not
    taken = set()
    for least, dense in ((14, True), (40, False)):
        ours = {
            text: row["id"]
            for row in rows
            if row["lang"].startswith(("zh", "ja", "ko")) is dense
            for text in map(plain, texts(row))
        }
        taken |= taken_from_others(ours, least=least)
    assert taken == set()


def test_a_piece_has_the_same_number_anywhere():
    assert starts("xxbca", 3)[2] == starts("bca", 3)[0] != starts("bac", 3)[0]


def test_no_row_names_a_method(rows):
    assert naming_a_method((row["id"], text) for row in rows for text in texts(row)) == set()


def test_pieces_of_a_sentence_are_seen():
    assert {"雨天", "下雨天", "rain", "überall"} <= set(words("今天是下雨天, Rain ÜBERALL"))
