from __future__ import annotations

import re
from pathlib import Path

import pytest

import detectors.scales as package
from detectors.scales.anchors import LANGUAGES, load_reasons, load_scale
from detectors.scales.scale_a import DIMENSIONS

FOLDER = Path(package.__file__).parent


def test_scale_a_has_five_dimensions_of_0_to_4():
    scale = load_scale("a")
    assert tuple(scale.dimensions) == DIMENSIONS
    assert (scale.lowest, scale.highest, scale.version) == (0, 4, "A1")


def test_scale_b_has_a_gate_and_four_weights():
    weights = {name: one.weight for name, one in load_scale("b").dimensions.items()}
    assert weights == {
        "safety": 0,
        "empathy": 40,
        "dialogue": 25,
        "personalisation": 20,
        "professionalism": 15,
    }


@pytest.mark.parametrize("name", ["a", "b"])
def test_every_mark_has_an_anchor_in_both_languages(name):
    scale = load_scale(name)
    for key, dimension in scale.dimensions.items():
        for item in dimension.items:
            for lang in LANGUAGES:
                told = [
                    scale.anchor(key, item, mark, lang) for mark in range(scale.lowest, scale.highest + 1)
                ]
                assert len(set(told)) == len(told)


def test_every_reason_that_a_rule_gives_is_described_and_none_is_left_over():
    code = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("scale_*.py"))
    given = set(re.findall(r'Mark\([^()]*?"([a-z_]+)"', code.replace("\n", " ")))
    given |= set(re.findall(r'"([a-z_]+)" if|else "([a-z_]+)"', code)[0])
    named = set(re.findall(r'"([a-z_]+)"', code))
    assert load_reasons().keys() <= named
    assert given - {""} <= load_reasons().keys()


def test_reasons_speak_both_languages():
    for name, reason in load_reasons().items():
        assert set(reason.why) == set(LANGUAGES), name
        assert set(reason.advice) in (set(), set(LANGUAGES)), name
