"""A sketch as bytes and as text for a JSON document: versioned, compact, bounded.

Whole numbers as variable-length integers (LEB128, zigzag for signed ones), then deflated: most counts are small or nothing.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from detectors.drift.feature import FEATURES, LEVELS, READING
from detectors.drift.heavy import Heavy
from detectors.drift.sample import KEPT, Sample
from detectors.drift.sentences import ID_BYTES
from detectors.drift.sketch import StyleSketch
from detectors.drift.stratum import ALL, LANGUAGES, PLACE, State
from detectors.drift.tally import PHRASES, TEMPLATES, Counts, Pairs, Tally
from detectors.drift.trace import WIDTH

VERSION: Final = 1
_MARK: Final = b"js" + bytes([VERSION]) + READING.encode()
_NUMBER: Final = 10  # bytes of the longest number
_NAME: Final = 64  # bytes of the longest name of a phrase
_SIDES: Final = len(FEATURES) + WIDTH

_TALLY_BYTES: Final = (
    _NUMBER * (8 + len(FEATURES) * LEVELS + 3 * WIDTH)
    + KEPT * (8 + 8 + WIDTH)
    + Heavy[int](TEMPLATES).most * (ID_BYTES + 2 * _NUMBER)
    + Heavy[str](PHRASES).most * (_NAME + 1 + 2 * _NUMBER)
)
_PAIRS_BYTES: Final = _NUMBER * (4 + 3 * _SIDES)
_LINKS: Final = len(LANGUAGES) * len(State) * (len(State) + 1) // 2
MOST_BYTES: Final = 1024 + len(ALL) * _TALLY_BYTES + _LINKS * _PAIRS_BYTES
"""Of a sketch in which every stratum is full and every number as long as can be, undeflated. In use: some tens of thousands."""


class SketchError(ValueError):
    """A packed sketch is damaged or of another version."""


def pack(sketch: StyleSketch) -> bytes:
    """The same bytes for the same counts, in whatever order they were merged."""
    out = bytearray()
    _text(out, sketch.model)
    _numbers(out, [sketch.replies, sketch.conversations, sketch.pairs, len(sketch.strata)])
    for stratum in sorted(sketch.strata, key=PLACE.__getitem__):
        _numbers(out, [PLACE[stratum]])
        _tally(out, sketch.strata[stratum])
    _numbers(out, [len(sketch.linked)])
    for one, other in sorted(sketch.linked, key=lambda both: (PLACE[both[0]], PLACE[both[1]])):
        held = sketch.linked[one, other]
        _numbers(out, [PLACE[one], PLACE[other], held.pairs, held.traced])
        _signed(out, held.sums)
    return _MARK + zlib.compress(bytes(out), 6)


def unpack(packed: bytes) -> StyleSketch:
    """Raise SketchError for what ``pack`` of this version did not make."""
    if packed[: len(_MARK)] != _MARK:
        raise SketchError("a sketch of styles is of another version; pin the baseline anew")
    try:
        return _sketch(_Reader(_inflated(packed[len(_MARK) :])))
    except (IndexError, ValueError, zlib.error, OverflowError) as error:
        raise SketchError(
            "a sketch of styles is damaged; take it from the backup or pin the baseline anew"
        ) from error


def to_text(sketch: StyleSketch) -> str:
    return base64.b85encode(pack(sketch)).decode()


def from_text(text: str) -> StyleSketch:
    """Raise SketchError as ``unpack`` does."""
    try:
        return unpack(base64.b85decode(text))
    except (binascii.Error, ValueError) as error:
        if isinstance(error, SketchError):
            raise
        raise SketchError("a sketch of styles is no base 85; take it from the backup") from error


def _inflated(packed: bytes) -> bytes:
    opened = zlib.decompressobj()
    out = opened.decompress(packed, MOST_BYTES)
    if not opened.eof:
        raise ValueError("longer than a sketch can be, or cut")
    return out


def _sketch(read: _Reader) -> StyleSketch:
    model = read.text()
    replies, conversations, pairs, strata = read.numbers(4)
    sketch = StyleSketch(model, replies, conversations, pairs)
    for _ in range(strata):
        (place,) = read.numbers(1)
        sketch.strata[ALL[place]] = read.tally()
    (linked,) = read.numbers(1)
    for _ in range(linked):
        one, other, count, traced = read.numbers(4)
        sketch.linked[ALL[one], ALL[other]] = Pairs(count, traced, read.signed(3, _SIDES))
    if not read.done:
        raise ValueError("more than a sketch")
    return sketch


def _tally(out: bytearray, tally: Tally) -> None:
    _numbers(out, [tally.replies, tally.conversations])
    _numbers(out, tally.histograms.ravel().tolist())
    _numbers(out, [tally.traced])
    _signed(out, tally.powers)
    _numbers(out, [len(tally.sample.rows)])
    for conversation in sorted(tally.sample.rows):
        mark, trace = tally.sample.rows[conversation]
        out += conversation.to_bytes(8, "big") + mark.to_bytes(8, "big") + trace
    _numbers(out, [tally.templates.lost, len(tally.templates.counts)])
    for sentence in sorted(tally.templates.counts):
        out += sentence.to_bytes(ID_BYTES, "big")
        _numbers(out, tally.templates.counts[sentence])
    _numbers(out, [tally.phrases.lost, len(tally.phrases.counts)])
    for name in sorted(tally.phrases.counts):
        _text(out, name)
        _numbers(out, tally.phrases.counts[name])


def _numbers(out: bytearray, numbers: Iterable[int]) -> None:
    for number in numbers:
        rest = number
        while rest > 0x7F:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        out.append(rest)


def _signed(out: bytearray, numbers: Counts) -> None:
    _numbers(out, (2 * one if one >= 0 else -2 * one - 1 for one in numbers.ravel().tolist()))


def _text(out: bytearray, text: str) -> None:
    whole = text.encode()[:_NAME]
    _numbers(out, [len(whole)])
    out += whole


class _Reader:
    def __init__(self, whole: bytes) -> None:
        self._whole = whole
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at == len(self._whole)

    def numbers(self, count: int) -> list[int]:
        return [self._number() for _ in range(count)]

    def signed(self, *shape: int) -> Counts:
        found = (number // 2 if number % 2 == 0 else -(number + 1) // 2 for number in self._each(shape))
        return np.array(list(found), dtype=np.int64).reshape(shape)

    def text(self) -> str:
        return self._bytes(self._number()).decode(errors="ignore")  # a name too long was cut

    def tally(self) -> Tally:
        replies, conversations = self.numbers(2)
        shape = (len(FEATURES), LEVELS)
        histograms = np.array(list(self._each(shape)), dtype=np.int64).reshape(shape)
        (traced,) = self.numbers(1)
        powers = self.signed(3, WIDTH)
        rows = {}
        for _ in range(self._number()):
            key = int.from_bytes(self._bytes(8), "big")
            rows[key] = (int.from_bytes(self._bytes(8), "big"), self._bytes(WIDTH))
        templates: Heavy[int] = Heavy(TEMPLATES, lost=self._number())
        for _ in range(self._number()):
            sentence = int.from_bytes(self._bytes(ID_BYTES), "big")
            templates.counts[sentence] = (self._number(), self._number())
        phrases: Heavy[str] = Heavy(PHRASES, lost=self._number())
        for _ in range(self._number()):
            name = self.text()
            phrases.counts[name] = (self._number(), self._number())
        return Tally(replies, conversations, histograms, traced, powers, Sample(rows), templates, phrases)

    def _each(self, shape: tuple[int, ...]) -> Iterator[int]:
        for _ in range(int(np.prod(shape))):
            yield self._number()

    def _number(self) -> int:
        number = shift = 0
        while True:
            byte = self._whole[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte <= 0x7F:
                return number
            shift += 7

    def _bytes(self, count: int) -> bytes:
        taken = self._whole[self._at : self._at + count]
        if len(taken) < count:
            raise ValueError("cut")
        self._at += count
        return taken
