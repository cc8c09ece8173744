from __future__ import annotations

import re

import pytest

from detectors.text.windows import WINDOW_LIMIT, split_windows, units

SMALL_TALK = "今天中午吃了一碗牛肉面，味道还不错。下午和同事去楼下买了咖啡。晚上打算看一部老电影。"


def test_a_short_turn_is_one_window():
    assert [w.text for w in split_windows("今天有点累。")] == ["今天有点累。"]


def test_the_whole_comes_first_and_sentences_keep_their_order():
    windows = split_windows(SMALL_TALK * 2)
    assert windows[0].index == 0
    assert [w.index for w in windows] == list(range(len(windows)))
    assert "牛肉面" in windows[1].text


def test_a_sentence_in_three_thousand_characters_has_its_own_window():
    text = SMALL_TALK * 40 + "谢谢你们，再见，猫就拜托了。" + SMALL_TALK * 35
    assert len(text) > 3000
    found = [w.text for w in split_windows(text, re.compile("再见")) if "拜托" in w.text]
    assert "谢谢你们，再见，猫就拜托了。" in found


@pytest.mark.parametrize(
    "text",
    [
        "哦," * 500_000,
        "a" * 1_000_000,
        SMALL_TALK * 20_000,
        "hello there. " * 80_000,
        "." * 100_000,
        "中 " * 300_000,
    ],
)
def test_never_more_windows_than_the_limit(text):
    windows = split_windows(text[:200_000])
    assert 1 <= len(windows) <= WINDOW_LIMIT
    assert all(units(w.text) <= 700 for w in windows)


def test_empty_text_is_one_empty_window():
    assert [w.text for w in split_windows("")] == [""]
