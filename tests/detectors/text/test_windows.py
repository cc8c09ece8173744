from __future__ import annotations

from unittest import mock

import pytest

from detectors.text import windows as windows_module
from detectors.text.windows import TURN_BELOW, WINDOW_LIMIT, reply_windows, turn_windows, units

SMALL_TALK = "今天中午吃了一碗牛肉面，味道还不错。下午和同事去楼下买了咖啡。晚上打算看一部老电影。"


FAREWELL = "谢谢你们，再见，猫就拜托了。"


@pytest.mark.parametrize("text", ["今天有点累。", SMALL_TALK, "a" * 300])
def test_a_turn_that_the_encoder_reads_whole_is_one_window(text):
    assert units(text) <= TURN_BELOW
    assert [(w.index, w.text) for w in turn_windows(text)] == [(0, text)]


def test_of_a_longer_one_its_head_comes_first_then_parts_then_sentences_in_their_order():
    text = SMALL_TALK * 4
    windows = turn_windows(text)
    assert [w.index for w in windows] == list(range(len(windows)))
    assert text.startswith(windows[0].text)
    assert TURN_BELOW - 5 < units(windows[0].text) <= TURN_BELOW
    sentences = [w.text for w in windows[1:] if w.text.count("。") == 1]
    parts = [w.text for w in windows[1:] if w.text.count("。") > 1]
    assert "".join(sentences) == "".join(parts) == text
    assert [w.text for w in windows[1:]] == parts + sentences
    assert min(map(units, parts)) > 40


@pytest.mark.parametrize("place", [0, 3, 9])
def test_a_sentence_in_a_thousand_characters_has_its_own_window(place):
    text = SMALL_TALK * place + FAREWELL + SMALL_TALK * (22 - place)
    assert len(text) > 900
    assert FAREWELL in [w.text for w in turn_windows(text)]


@pytest.mark.parametrize("place", [0, 40, 75])
def test_in_three_thousand_it_shares_one_with_a_neighbour_at_most(place):
    text = SMALL_TALK * place + FAREWELL + SMALL_TALK * (75 - place)
    assert len(text) > 3000
    found = [w.text.count("。") for w in turn_windows(text)[1:] if FAREWELL in w.text]
    assert min(found) <= 2


@pytest.mark.parametrize("place", [0, 3, 9])
def test_a_few_telling_words_stand_by_themselves(place):
    text = SMALL_TALK * place + "不想活了。" + SMALL_TALK * (22 - place)
    assert "不想活了。" in [w.text for w in turn_windows(text)]


@pytest.mark.parametrize("characters", [3_000, 10_000])
def test_no_sentence_of_a_long_turn_goes_unread(characters):
    text = "".join(f"第{n}件事说完了。" for n in range(characters // 9))
    read = "".join(w.text for w in turn_windows(text)[1:])
    assert all(f"第{n}件事说完了。" in read for n in range(characters // 9))


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
    windows = turn_windows(text[:200_000])
    assert 1 <= len(windows) <= WINDOW_LIMIT
    assert all(units(w.text) <= 2.1 * units(text[:200_000]) / WINDOW_LIMIT + TURN_BELOW for w in windows)


def test_empty_text_is_one_empty_window():
    assert [w.text for w in turn_windows("")] == [""]


def test_a_reply_is_read_whole_or_in_parts_that_hold_every_sentence():
    sentence = "Somebody could ring at any hour of the day."
    assert reply_windows(sentence * 10) == [sentence * 10]
    long = " ".join(f"{sentence[:-1]} {number}." for number in range(200))
    parts = reply_windows(long)
    assert 2 <= len(parts) <= 24
    assert all(f" {number}." in "".join(parts) for number in range(200))
    assert reply_windows("") == [""]
    assert reply_windows("!" * 3000) == ["!" * 3000]


def test_reading_a_long_reply_takes_a_time_in_proportion():
    """Counted in signs that are measured, not in seconds."""
    measured = []
    for times in (5_000, 50_000):
        with mock.patch.object(windows_module, "units", wraps=units) as counted:
            reply_windows("再等等。" * times)
        measured.append(sum(len(call.args[0]) for call in counted.call_args_list))
    assert measured[1] < 15 * measured[0]
