"""Every row of our corpora: its words, its family, its side, and what must never stand in it."""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detectors.finding import CRISIS_LEVELS, Cue, Emotion, Level
from detectors.training.vocabulary import HARMLESS_KINDS, KINDS, RISKY_KINDS, TRENDS

CORPORA = Path(str(resources.files("detectors"))) / "corpora"
READINGS = CORPORA / "readings"
FOREIGN = Path(__file__).parents[3] / "shared" / "data"
METHODS = Path(__file__).with_name("method_words.sha256")
SINGLE = {"id", "lang", "text", "level", "distress", "emotions", "cues", "kind", "family", "held_out"}
CONTEXT = SINGLE - {"text"} | {"turns", "trend"}
LEAST = {"zh": 4000, "en": 4000} | dict.fromkeys(["zh-Hant", "ja", "ko", "es", "pt", "fr", "de"], 300)
LEVELS = {Level.NONE, *CRISIS_LEVELS}
_SIGNS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
RUN = re.compile(f"[{_SIGNS}]+")
WORD = re.compile(rf"[^\W\d_{_SIGNS}]+")

Row = dict[str, Any]


class _Kept(dict[int, int | None]):
    """For ``str.translate``: signs, spaces and controls vanish."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self[code]


KEPT = _Kept()


def plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().translate(KEPT)


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


def alike(some: list[str], least: float) -> Iterator[tuple[int, int]]:
    """Pairs whose character 5-grams have a Jaccard index above ``least``.

    Two such sets share one of their rarest few (prefix filter: Chaudhuri et al. 2006); only those are compared.
    """
    grams = [frozenset(text[i : i + 5] for i in range(max(1, len(text) - 4))) for text in some]
    often = Counter(gram for one in grams for gram in one)
    index: dict[str, list[int]] = defaultdict(list)
    for i, mine in enumerate(grams):
        rare = sorted(mine, key=lambda gram: (often[gram], gram))
        prefix = rare[: len(rare) - math.ceil(least * len(rare)) + 1]
        for j in sorted({j for gram in prefix for j in index[gram]}):
            if len(mine & grams[j]) > least * len(mine | grams[j]):
                yield i, j
        for gram in prefix:
            index[gram].append(i)


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
    foreign = "\n".join(
        plain(text)
        for file in sorted(FOREIGN.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
        for text in strings(json.loads(line))
    )
    taken = set()
    for least, dense in ((14, True), (40, False)):
        ours = {
            text: row["id"]
            for row in rows
            if row["lang"].startswith(("zh", "ja", "ko")) is dense
            for text in map(plain, texts(row))
            if len(text) >= least
        }
        heads = starts("".join(text[:least] for text in ours), least)[::least]
        sorted_heads, pieces = np.sort(heads), starts(foreign, least)
        nearest = sorted_heads[np.searchsorted(sorted_heads, pieces).clip(max=len(heads) - 1)]
        met = set(pieces[nearest == pieces].tolist())
        maybe = [text for text, head in zip(ours, heads.tolist(), strict=True) if head in met]
        taken |= {ours[text] for text in maybe if text in foreign}
    assert taken == set()


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def starts(text: str, length: int) -> np.ndarray:
    """A number for each piece of this length (Rabin and Karp 1987), so that few rows need the slow look."""
    signs = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    found = np.zeros(max(0, len(signs) - length + 1), dtype=np.uint64)
    for place in range(length):
        found = found * np.uint64(1_000_003) + signs[place : place + len(found)]
    return found


def test_a_piece_has_the_same_number_anywhere():
    assert starts("xxbca", 3)[2] == starts("bca", 3)[0] != starts("bac", 3)[0]


def test_no_row_names_a_method(rows):
    # the words themselves stand nowhere: only their digests do
    banned = set(METHODS.read_text(encoding="ascii").split())
    held: dict[str, str] = {}
    for row in rows:
        for text in texts(row):
            for word in words(text):
                held.setdefault(word, row["id"])
    found = {held[word] for word in held if hashlib.sha256(word.encode()).hexdigest() in banned}
    assert found == set()


def words(text: str) -> Iterator[str]:
    """Words in Latin and other alphabets, and each piece of 2 to 4 signs of the others."""
    lower = unicodedata.normalize("NFKC", text).lower()
    yield from WORD.findall(lower)
    for run in RUN.findall(lower):
        for length in (2, 3, 4):
            yield from (run[i : i + length] for i in range(len(run) - length + 1))


def test_pieces_of_a_sentence_are_seen():
    assert {"雨天", "下雨天", "rain", "überall"} <= set(words("今天是下雨天, Rain ÜBERALL"))
