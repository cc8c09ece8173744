from __future__ import annotations

import pytest

from detectors.text import UNDETERMINED, WORDLESS, detect_language, primary


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我今天有点累", "zh"),
        ("aaa想自杀bbb", "zh"),
        ("我的plan是thesis defense完的当晚，then I'm out", "zh"),
        ("I don't want to go on", "en"),
        ("haha so tired", "en"),
        ("three deadlines", "en"),
        ("my cat ate my homework", "en"),
        ("ik heb een mooie dag", "nl"),
        ("was ist das für ein Tag", "de"),
        ("tôi mệt quá", "vi"),
        ("no quiero vivir más", "es"),
        ("quiero morir", "es"),
        ("je veux mourir", "fr"),
        ("ich will nicht mehr leben", "de"),
        ("죽고 싶어요", "ko"),
        ("消えたい", "ja"),
        ("Я хочу умереть", "ru"),
        ("123", UNDETERMINED),
        ("😭😭", UNDETERMINED),
        ("", UNDETERMINED),
    ],
)
def test_language(text, language):
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "wordless"), [("123", True), ("😭!!", True), ("", True), ("ok", False), ("唉", False)]
)
def test_wordless(text, wordless):
    assert bool(WORDLESS.fullmatch(text)) is wordless


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"),
        ("zh-Hant-HK", "zh"),
        ("en_US", "en"),
        ("ZH_CN", "zh"),
        ("", "und"),
        (None, "und"),
        ("-", "und"),
    ],
)
def test_the_language_of_a_producer_s_tag(tag, language):
    """Telephones write their locale with a low line."""
    assert primary(tag) == language
