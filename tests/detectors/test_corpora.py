from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from detectors.crisis.bank import Exemplar, read_corpora
from detectors.finding import CRISIS_LEVELS, Level

FOREIGN = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def rows() -> list[Exemplar]:
    return read_corpora()


def plain(text: str) -> str:
    return "".join(
        c for c in unicodedata.normalize("NFKC", text).lower() if unicodedata.category(c)[0] not in "PZC"
    )


def test_no_sentence_twice(rows):
    twice = [family for family, count in Counter(plain(row.text) for row in rows).items() if count > 1]
    assert len(twice) == 0


def test_no_family_on_both_sides(rows):
    sides = defaultdict(set)
    for row in rows:
        sides[row.family].add(row.held_out)
    assert all(len(side) == 1 for side in sides.values())


def test_about_a_fifth_is_held_out(rows):
    share = sum(row.held_out for row in rows) / len(rows)
    assert 0.15 < share < 0.25


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("level", CRISIS_LEVELS)
def test_enough_exemplars_of_each_level(rows, lang, level):
    assert sum(row.lang == lang and row.level is level and not row.held_out for row in rows) >= 40


def test_enough_contrasts_over_the_kinds(rows):
    kinds = Counter(row.kind for row in rows if row.level is Level.NONE and not row.held_out)
    assert sum(kinds.values()) >= 200
    assert len(kinds) >= 16
    assert min(kinds.values()) >= 20


@pytest.mark.skipif(not FOREIGN.is_dir(), reason="the foreign label sets do not ship with the project")
def test_no_sentence_of_others(rows):
    # what everybody says ("i wish i was dead") will be found anywhere; a whole sentence will not
    ours = {plain(row.text) for row in rows if len(plain(row.text)) >= (14 if row.lang == "zh" else 40)}
    foreign = "\n".join(
        plain(line)
        for file in sorted(FOREIGN.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    assert sum(text in foreign for text in ours) == 0
