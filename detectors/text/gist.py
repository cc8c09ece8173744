"""Which words stand in a text, as a sketch: for echoes, references back, templates, without keeping words (M7).

A bottom-k sketch (Broder 1997) of keyed 16-bit hashes of content words. Who has the sketch and not the key can ask for no
word; who has both could try the words of a language, so the key stays with the keys of the pseudonyms. A word is taken for
another by chance in one of some four hundred.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
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
_COMMON: Final = 0x8000  # from here on hashes are of common words: a long text drops them first
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


def gist(text: str, key: bytes = b"") -> str:
    """Return the sketch of a text, empty where it has no content words. Only sketches of one ``key`` can be compared.

    ``key`` is at most 64 bytes; without one a sketch hides nothing, and is for the length of a command.
    """
    return _packed(_hash(word, key) for word in _words(plain(text[:_READ])))


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
    left_out = frozenset().union(*(_sketch(one).words for one in besides))
    return sum(word < _COMMON for word in (_sketch(part).words & known) - left_out)


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


def _hash(word: str, key: bytes) -> int:
    digest = hashlib.blake2b(word.encode(), key=key, digest_size=2).digest()
    return int.from_bytes(digest, "big") % _COMMON + _COMMON * (word in _common())


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """The words that stand in one of 125 texts of our corpora, or more: they tell of no subject."""
    return frozenset(files("detectors.text").joinpath("common.txt").read_text(encoding="utf-8").split())


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
