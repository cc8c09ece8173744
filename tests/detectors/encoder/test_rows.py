from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.encoder.errors import NonFiniteRowError
from detectors.encoder.rows import RowMaker, clean_text, mean_pool
from detectors.ports import Vectors


class Embedder:
    """One number for each text, and a list of what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> Vectors:
        self.asked.append(text)
        return np.array([len(text)], dtype=np.float32)


def test_equal_texts_are_embedded_once_and_rows_keep_their_order() -> None:
    embedder = Embedder()
    rows = RowMaker(embedder, 1).make(["aa", "b", "aa", "ccc", "b"])
    assert rows.tolist() == [[2], [1], [2], [3], [1]]
    assert embedder.asked == ["aa", "b", "ccc"]


def test_no_texts_give_no_rows() -> None:
    rows = RowMaker(Embedder(), 3).make([])
    assert rows.shape == (0, 3)
    assert rows.dtype == np.float32


def test_nothing_is_remembered_unless_asked() -> None:
    embedder = Embedder()
    maker = RowMaker(embedder, 1)
    maker.make(["a"])
    maker.make(["a"])
    assert embedder.asked == ["a", "a"]


def test_the_latest_rows_are_remembered() -> None:
    embedder = Embedder()
    maker = RowMaker(embedder, 1, remembered=2)
    maker.make(["a", "bb"])
    maker.make(["a"])
    maker.make(["ccc"])
    assert maker.make(["a", "bb", "a"]).tolist() == [[1], [2], [1]]
    # "bb" had not been asked for the longest time when "ccc" came
    assert embedder.asked == ["a", "bb", "ccc", "bb"]


def test_a_remembered_row_cannot_be_spoilt_by_its_receiver() -> None:
    maker = RowMaker(Embedder(), 1, remembered=2)
    maker.make(["aa"])[:] = np.nan
    assert maker.make(["aa"]).tolist() == [[2]]


def test_lanes_work_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=30)

    def embed(text: str) -> Vectors:
        meeting.wait()
        return np.array([len(text)], dtype=np.float32)

    assert RowMaker(embed, 1, lanes=2).make(["a", "bb", "ccc", "dddd"]).tolist() == [[1], [2], [3], [4]]


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=6))
def test_cleaned_text_can_be_encoded(texts: list[str]) -> None:
    for text in texts:
        cleaned = clean_text(text)
        cleaned.encode("utf-8")
        assert "\0" not in cleaned
        assert clean_text(cleaned) == cleaned


def test_cleaning_mends_pairs_and_replaces_the_rest() -> None:
    assert clean_text("a\ud83d\ude00b") == "a😀b"
    assert clean_text("a\ud83db\udc00") == "a\ufffdb\ufffd"
    assert clean_text("ra\0in") == "rain"
    assert clean_text("天气 🙂") == "天气 🙂"


def test_pooling_gives_the_unit_mean() -> None:
    row = mean_pool(np.array([[1, 0], [5, 8]], dtype=np.float32))
    assert row.dtype == np.float32
    assert row.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_row_that_is_no_direction_is_an_error(bad: float) -> None:
    with pytest.raises(NonFiniteRowError):
        mean_pool(np.full((2, 3), bad, dtype=np.float32))
