from __future__ import annotations

import random

import pytest

from detectors.finding import Cue, Level
from detectors.text import normalise
from detectors.training.example import Example, Said
from detectors.training.hidden import hidden_rows
from detectors.training.obfuscate import common_signs, obfuscate, ways
from detectors.turn import Role

COMMON = common_signs(["我想死", "四十四只石狮子是死的", "自己紫色的杀傻沙子", "累了", "类泪"])


def row(text: str, *, lang: str = "zh", crisis: bool = True, family: str = "f") -> Example:
    level = Level.ACTIVE_IDEATION if crisis else Level.NONE
    return Example(
        "own",
        family,
        lang,
        (Said(Role.USER, text),),
        crisis,
        level,
        distress=2,
        emotions=frozenset(),
        cues=frozenset(),
        kind="plain" if crisis else "everyday",
    )


@pytest.mark.parametrize("way", sorted(ways("zh", COMMON)))
def test_every_chinese_way_hides_the_telling_word(way):
    hidden = obfuscate("今天又想自杀了", "zh", way, COMMON, random.Random(3))
    assert hidden is not None
    assert "自杀" not in hidden or way == "emoji"
    assert hidden.startswith("今天又想")


@pytest.mark.parametrize("way", sorted(ways("en", COMMON)))
def test_every_english_way_hides_the_telling_word(way):
    hidden = obfuscate("thinking of suicide again", "en", way, COMMON, random.Random(3))
    assert hidden is not None
    assert "suicide" not in hidden or way == "emoji"
    assert hidden.startswith("thinking of ")


def test_where_nothing_tells_any_word_is_hidden():
    hidden = obfuscate("kettle broke again", "en", "starred", COMMON, random.Random(1))
    assert hidden is not None
    assert hidden != "kettle broke again"


def test_nothing_to_hide_gives_nothing():
    assert obfuscate("哦", "zh", "spaced", COMMON, random.Random(1)) is None
    assert obfuscate("the cat", "en", "slang", COMMON, random.Random(1)) is None


def test_the_same_rows_are_hidden_in_any_order():
    rows = [row(f"第{n}次想死的时候天还没亮", family=f"f{n}") for n in range(40)]
    forwards = {e.text for e in hidden_rows(rows, 0.5)}
    backwards = {e.text for e in hidden_rows(rows[::-1], 0.5)}
    assert forwards == backwards
    assert 8 < len(forwards) < 32


def test_hidden_rows_keep_label_and_family_and_name_the_cue():
    rows = [row(f"我今天第{n}次想死", family=f"f{n}", crisis=n % 2 == 0) for n in range(30)]
    by_family = {one.group: one for one in rows}
    hidden = hidden_rows(rows, 1.0)
    assert len(hidden) > 20
    for one in hidden:
        assert one.crisis is by_family[one.group].crisis
        assert one.level is by_family[one.group].level
        assert Cue.OBFUSCATED in (one.cues or ())


def test_innocent_rows_are_hidden_as_well():
    rows = [row(f"这部电影第{n}遍看完笑死我了", crisis=False, family=f"f{n}") for n in range(20)]
    assert len(hidden_rows(rows, 1.0)) > 10


def test_what_separators_hide_is_read_again():
    hidden = obfuscate("他说想自杀", "zh", "spaced", COMMON, random.Random(2))
    assert hidden is not None
    assert normalise(hidden).text == "他说想自杀"
