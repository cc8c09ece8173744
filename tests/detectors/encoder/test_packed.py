from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.encoder.errors import WeightsError
from detectors.encoder.packed import parse
from tests.detectors.encoder import tiny

WHOLE = tiny.write_file(tiny.make_tensors())


def test_header_and_vocabulary_are_read() -> None:
    weights = parse(WHOLE)
    shape = weights.shape
    assert (shape.hidden, shape.layers, shape.heads, shape.feed_forward) == (32, 2, 2, 64)
    assert (shape.vocabulary, shape.positions, shape.token_types) == (tiny.ROWS, 48, 2)
    assert shape.epsilon == pytest.approx(1e-12)
    assert weights.vocabulary.pieces == tiny.PIECES
    assert weights.vocabulary.scores[0] == 0
    assert weights.vocabulary.scores[-1] == -9
    assert (
        weights.vocabulary.bos,
        weights.vocabulary.pad,
        weights.vocabulary.eos,
        weights.vocabulary.unk,
    ) == (0, 1, 2, 3)


def test_low_nibbles_come_before_high_ones() -> None:
    levels = np.stack([np.arange(32) % 16, 15 - np.arange(32) // 2])
    weights = parse(tiny.write_file({"t": tiny.pack_four_bit(levels, np.array([0.5, 2.0]))}))
    expected = np.concatenate([(levels[0] - 8) * 0.5, (levels[1] - 8) * 2.0])
    assert weights.tensor("t").tolist() == expected.tolist()


def test_plain_tensors_come_back_as_they_are() -> None:
    values = np.array([1.5, -2.25, 0.0], dtype=np.float32)
    assert parse(tiny.write_file({"t": tiny.pack_plain(values)})).tensor("t").tolist() == values.tolist()


def test_a_tensor_that_is_not_there_is_named() -> None:
    with pytest.raises(WeightsError, match="no tensor nowhere"):
        parse(WHOLE).tensor("nowhere")


@pytest.mark.parametrize("change", [{"magic": b"GGUF"}, {"version": 2}, {"block": 64}])
def test_another_layout_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(WeightsError):
        parse(tiny.write_file({}, **change))


def test_a_tensor_of_the_wrong_length_is_refused() -> None:
    kind, weights, raw = tiny.pack_plain(np.ones(8))
    with pytest.raises(WeightsError, match="tensor t "):
        parse(tiny.write_file({"t": (kind, weights + 1, raw)}))


@pytest.mark.parametrize("kind", [2, 255])
def test_an_unknown_kind_of_tensor_is_refused(kind: int) -> None:
    with pytest.raises(WeightsError, match="tensor t "):
        parse(tiny.write_file({"t": (kind, 2, b"12345678")}))


@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(WeightsError):
        parse(WHOLE[:length])


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8))
def test_damage_is_refused_or_stays_in_bounds(position: int, damage: bytes) -> None:
    data = WHOLE[:position] + damage + WHOLE[position + len(damage) :]
    try:
        weights = parse(data)
        tensors = {name: weights.tensor(name) for name in weights.entries}
    except WeightsError:
        return
    for name, entry in weights.entries.items():
        assert tensors[name].size == entry.weights
        assert np.isfinite(tensors[name]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(bad: float) -> None:
    packed = tiny.pack_four_bit(np.full((1, 32), 8), np.array([bad]))
    weights = parse(tiny.write_file({"plain": tiny.pack_plain(np.array([1, bad])), "packed": packed}))
    for name in ("plain", "packed"):
        with pytest.raises(WeightsError, match=f"tensor {name} "):
            weights.tensor(name)
