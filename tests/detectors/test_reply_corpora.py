"""Every judged reply of our corpora: its labels, its family, its side, and what must never stand in it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from detectors.finding import CRISIS_LEVELS, Criterion, EmotionNamed, Flag, Level, Outcome
from detectors.training.network import SCALE
from detectors.training.replies import REPLIES, read_replies
from tests.support.sentences import FOREIGN, alike, naming_a_method, plain, taken_from_others

FIELDS = {
    "id",
    "lang",
    "turns",
    "level",
    "outcome",
    "criteria",
    "flags",
    "maybe",
    "doubtful",
    "emotion_named",
    "scale_a",
    "why",
    "family",
    "held_out",
}
ALL = set(Criterion)
OF_CRISIS = {
    Outcome.HANDLED,
    Outcome.INCOMPLETE,
    Outcome.SAFE_NOT_SUPPORTIVE,
    Outcome.UNHANDLED,
    Outcome.HARMFUL,
}
OF_NONE = {Outcome.NOT_APPLICABLE, Outcome.OVER_TRIGGERED, Outcome.HARMFUL}

Row = dict[str, Any]


def named(rows: list[Row], wrong: Callable[[Row], object]) -> list[str]:
    """Ids of the rows with a fault, so that a failure names rows and quotes none."""
    return [row["id"] for row in rows if wrong(row)]


def met(row: Row) -> set[str]:
    return {name for name, value in row["criteria"].items() if value}


def crisis(row: Row) -> bool:
    return Level(row["level"]).crisis


def reply(row: Row) -> str:
    return row["turns"][-1]["text"]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [
        json.loads(line)
        for file in sorted(REPLIES.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def test_each_row_has_its_fields_in_our_words(rows):
    assert named(rows, lambda r: set(r) != FIELDS) == []
    assert named(rows, lambda r: r["lang"] not in {"zh", "zh-Hant", "en"}) == []
    assert named(rows, lambda r: r["level"] not in {Level.NONE, *CRISIS_LEVELS}) == []
    assert named(rows, lambda r: set(r["criteria"]) != ALL) == []
    assert named(rows, lambda r: not {*r["flags"], *r["maybe"]} <= set(Flag)) == []
    assert named(rows, lambda r: set(r["flags"]) & set(r["maybe"])) == []
    assert named(rows, lambda r: not set(r["doubtful"]) <= {*ALL, "outcome", "emotion_named"}) == []
    assert named(rows, lambda r: r["emotion_named"] not in set(EmotionNamed)) == []
    assert named(rows, lambda r: set(r["scale_a"]) != set(SCALE)) == []
    assert named(rows, lambda r: any(m not in {None, 0, 1, 2, 3, 4} for m in r["scale_a"].values())) == []
    assert named(rows, lambda r: type(r["held_out"]) is not bool) == []


def test_a_row_ends_with_the_reply_to_its_user(rows):
    assert named(rows, lambda r: [t["role"] for t in r["turns"][-2:]] != ["user", "assistant"]) == []
    assert named(rows, lambda r: not r["turns"][-2]["text"].strip()) == []


def test_an_outcome_follows_from_its_criteria(rows):
    """LABELS: handled is all five; half-measures hold the person and see or point; what holds is not unsupportive."""
    assert named(rows, lambda r: r["outcome"] not in (OF_CRISIS if crisis(r) else OF_NONE)) == []
    of = {
        outcome: [row for row in rows if crisis(row) and row["outcome"] == outcome] for outcome in OF_CRISIS
    }
    assert named(of[Outcome.HANDLED], lambda r: met(r) != ALL) == []
    assert named(of[Outcome.INCOMPLETE], lambda r: met(r) == ALL or "holds_feeling" not in met(r)) == []
    assert named(of[Outcome.INCOMPLETE], lambda r: not met(r) & {"risk_recognised", "refers"}) == []
    assert named(of[Outcome.SAFE_NOT_SUPPORTIVE], lambda r: "holds_feeling" in met(r)) == []


def test_the_crisis_dimension_is_marked_where_there_is_a_crisis(rows):
    assert named(rows, lambda r: (r["scale_a"]["crisis"] is None) is crisis(r)) == []


def test_ids_are_unique(rows):
    assert [name for name, count in Counter(row["id"] for row in rows).items() if count > 1] == []


def test_no_exchange_twice(rows):
    seen: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        seen["|".join(plain(turn["text"]) for turn in row["turns"])].append(row["id"])
    assert [ids for ids in seen.values() if len(ids) > 1] == []


def test_a_family_answers_one_situation_in_several_ways(rows):
    families: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        families[row["family"]].append(row)
    assert len(families) > 900
    several = [some for some in families.values() if len({row["outcome"] for row in some}) > 1]
    assert len(several) > 0.9 * len(families)


def test_a_family_is_on_the_side_its_name_gives(rows):
    def side(family: str) -> bool:
        return int(hashlib.sha256(f"jiezhu replies: {family}".encode()).hexdigest(), 16) % 5 == 0

    assert named(rows, lambda r: r["held_out"] is not side(r["family"])) == []
    assert 0.15 < sum(row["held_out"] for row in rows) / len(rows) < 0.25


def test_no_near_duplicate_across_the_sides(rows):
    long = [row for row in rows if len(plain(reply(row))) > 20]
    near = [
        (long[i]["id"], long[j]["id"])
        for i, j in alike([plain(reply(row)) for row in long], 0.8)
        if long[i]["held_out"] != long[j]["held_out"]
    ]
    assert near == []


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_enough_of_each_language_and_outcome(rows, lang):
    mine = [row for row in rows if row["lang"] == lang]
    assert len(mine) >= 2500
    outcomes = Counter(row["outcome"] for row in mine)
    assert min(outcomes[outcome] for outcome in Outcome if outcome in OF_CRISIS | OF_NONE) >= 150


@pytest.mark.skipif(not FOREIGN.is_dir(), reason="the foreign label sets do not ship with the project")
def test_no_sentence_of_others(rows):
    taken = set()
    for least, lang in ((14, "zh"), (40, "en")):
        ours = {
            plain(turn["text"]): row["id"] for row in rows if row["lang"] == lang for turn in row["turns"]
        }
        taken |= taken_from_others(ours, least=least)
    assert taken == set()


def test_no_row_names_a_method(rows):
    assert naming_a_method((row["id"], turn["text"]) for row in rows for turn in row["turns"]) == set()


def test_what_is_read_is_what_stands_there(rows):
    read = read_replies()
    assert [one.name for one in read] == [row["id"] for row in rows]
    assert [one.text for one in read] == [reply(row) for row in rows]
    assert [set(one.labels.criteria) for one in read] == [met(row) for row in rows]
    assert [one.example() is None for one in read] == [not reply(row).strip() for row in rows]
