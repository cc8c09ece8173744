"""Which words stand in a text, as a sketch from which none can be got back (M7): for echoes, references back, templates.

A bottom-k sketch (Broder 1997) of 16-bit hashes of content words. So short a hash stands for many words of a language, so
that a kept sketch names none; and a word is taken for another by chance in one of some seven hundred.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from detectors.text.plain import plain

KEPT: Final = 96  # hashes: all words of a text of a hundred characters, a sample of longer ones
FEWEST: Final = 3  # words: a shorter text is too little to be told from chance
_READ: Final = 2_000  # characters
_REMEMBERED: Final = 8_192  # answers: a conversation is looked at again with every turn
_MOST: Final = 0xFFFF
_SHORTEST: Final = 4  # letters of a word: shorter ones seldom mean anything by themselves
_UNITS: Final = re.compile(r"[一-鿿]|[^\W\d_一-鿿]+(?:'[^\W\d_]+)?|\d+")
_HAN: Final = re.compile(r"[一-鿿]")
# who speaks changes the person: "my mother" comes back as "your mother"
_TURNED: Final = {
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "i've": "you've",
    "我": "你",
    "您": "你",
}


def gist(text: str) -> str:
    """Return the sketch of a text, empty where it has no content words."""
    return _packed(_hash(word) for word in _words(plain(text[:_READ])))


def joined(one: str, other: str) -> str:
    """The sketch of both texts: a commutative monoid, the empty sketch changes nothing."""
    return _packed([*words_of(one), *words_of(other)]) if one and other else one or other


@lru_cache(maxsize=_REMEMBERED)
def share_in(part: str, whole: tuple[str, ...]) -> float:
    """Share, 0–1, of the words of ``part`` that stand in any of ``whole``; 0 where ``part`` has too few."""
    mine, others = _sketch(part), [_sketch(one) for one in whole]
    reach = min([mine.reach, *(one.reach for one in others)])
    within = {word for word in mine.words if word <= reach}
    if len(mine.words) < FEWEST or not within:
        return 0.0
    return len(within.intersection(frozenset().union(*(one.words for one in others)))) / len(within)


@lru_cache(maxsize=_REMEMBERED)
def taken_up(part: str, whole: tuple[str, ...], besides: tuple[str, ...]) -> int:
    """How many uncommon words of ``part`` stand in any of ``whole``, and in none of ``besides``."""
    known = frozenset().union(*(_sketch(one).words for one in whole))
    left_out = _common().union(*(_sketch(one).words for one in besides))
    return len((_sketch(part).words & known) - left_out)


@lru_cache(maxsize=4 * _REMEMBERED)
def likeness(one: str, other: str) -> float:
    """Share, 0–1, of the words of both that both have (Jaccard); 0 where either has too few."""
    mine, theirs = _sketch(one), _sketch(other)
    reach = min(mine.reach, theirs.reach)
    some, others = ({word for word in sketch.words if word <= reach} for sketch in (mine, theirs))
    if min(len(some), len(others)) < FEWEST:
        return 0.0
    return len(some & others) / len(some | others)


def words_of(packed: str) -> frozenset[int]:
    """The hashes of a sketch; none for what is no sketch."""
    return _sketch(packed).words


def _words(text: str) -> set[str]:
    """Words of Latin letters and numbers; of Chinese, which has no spaces, every two neighbouring characters."""
    units = [_TURNED.get(unit, unit) for unit in _UNITS.findall(text)]
    han = [_HAN.match(unit) is not None for unit in units]
    pairs = {
        one + other
        for (one, first), (other, second) in pairwise(zip(units, han, strict=True))
        if first and second
    }
    long = {
        unit
        for unit, chinese in zip(units, han, strict=True)
        if not chinese and (len(unit) >= _SHORTEST or unit.isdigit())
    }
    return pairs | long


def _hash(word: str) -> int:
    return zlib.crc32(word.encode()) & _MOST


@lru_cache(maxsize=1)
def _common() -> frozenset[int]:
    """Hashes of the words that stand in one of 125 texts of our corpora, or more: they tell of no subject."""
    words = files("detectors.text").joinpath("common.txt").read_text(encoding="utf-8").split()
    return frozenset(map(_hash, words))


def _packed(hashes: Iterable[int]) -> str:
    kept = sorted(set(hashes))[:KEPT]
    return base64.b85encode(struct.pack(f">{len(kept)}H", *kept)).decode()


@dataclass(frozen=True, slots=True)
class _Sketch:
    """``reach``: up to this hash it tells of every word."""

    words: frozenset[int]
    reach: int


@lru_cache(maxsize=_REMEMBERED)
def _sketch(packed: str) -> _Sketch:
    """Nothing for what is no sketch."""
    try:
        whole = base64.b85decode(packed)
        words = frozenset(struct.unpack(f">{len(whole) // 2}H", whole))
    except (ValueError, binascii.Error, struct.error):
        words = frozenset()
    return _Sketch(words, max(words) if len(words) >= KEPT else _MOST)
