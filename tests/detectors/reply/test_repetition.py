from __future__ import annotations

from detectors.reply.repetition import Recent
from detectors.text.gist import gist

FORMULA = gist("我能理解你现在的焦虑，焦虑是很正常的情绪，你可以试试深呼吸。")
NEARLY = gist("我能理解你现在的焦虑，焦虑是很正常的情绪，可以试试深呼吸哦。")
OTHER = gist("凌晨三点醒着，脑子停不下来，那有多熬人。是哪件事在转？")


def test_the_same_form_of_words_in_another_conversation_is_a_repetition():
    recent = Recent()
    assert not recent.repeats("a", FORMULA)
    assert recent.repeats("b", NEARLY)
    assert not recent.repeats("c", OTHER)


def test_within_a_conversation_it_is_none():
    recent = Recent()
    assert [recent.repeats("a", FORMULA) for _ in range(3)] == [False] * 3


def test_the_sample_slides():
    recent = Recent(kept=2)
    recent.repeats("a", FORMULA)
    recent.repeats("b", OTHER)
    recent.repeats("b", OTHER)
    assert not recent.repeats("c", FORMULA)


def test_nothing_said_repeats_nothing():
    recent = Recent()
    recent.repeats("a", "")
    assert not recent.repeats("b", "")
