"""Which words stand in a text, as a sketch from which none can be got back (M7): for echoes, references back, templates.

A bottom-k sketch (Broder 1997) of 16-bit hashes of content words. So short a hash stands for many words of a language, so
that a kept sketch names none; and a word is taken for another by chance in one of some seven hundred.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from detectors.text.plain import plain

KEPT: Final = 96  # hashes: all words of a text of a hundred characters, a sample of longer ones
FEWEST: Final = 3  # words: a shorter text is too little to be told from chance
_READ: Final = 2_000  # characters
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

Hashes = NDArray[np.uint16]


def gist(text: str) -> str:
    """Return the sketch of a text, empty where it has no content words."""
    return _packed(_hash(word) for word in _words(plain(text[:_READ])))


def joined(one: str, other: str) -> str:
    """The sketch of both texts: a commutative monoid, the empty sketch changes nothing."""
    return _packed([*_unpacked(one).tolist(), *_unpacked(other).tolist()]) if one and other else one or other


def share_in(part: str, whole: Iterable[str]) -> float:
    """Share, 0–1, of the words of ``part`` that stand in any of ``whole``; 0 where ``part`` has too few."""
    mine, seen, reach = _compared(part, whole)
    within = mine <= reach
    return float(seen[within].mean()) if len(mine) >= FEWEST and within.any() else 0.0


def taken_up(part: str, whole: Iterable[str], besides: Iterable[str]) -> int:
    """How many uncommon words of ``part`` stand in any of ``whole``, and in none of ``besides``."""
    mine, seen, _ = _compared(part, whole)
    _, known, _ = _compared(part, besides)
    return int((seen & ~known & ~np.isin(mine, _common())).sum())


def likeness(one: str, other: str) -> float:
    """Share, 0–1, of the words of both that both have (Jaccard); 0 where either has too few."""
    mine, theirs = _unpacked(one), _unpacked(other)
    reach = min(_reach(mine), _reach(theirs))
    mine, theirs = mine[mine <= reach], theirs[theirs <= reach]
    if min(len(mine), len(theirs)) < FEWEST:
        return 0.0
    return len(np.intersect1d(mine, theirs)) / len(np.union1d(mine, theirs))


def words_of(packed: str) -> frozenset[int]:
    """The hashes of a sketch; none for what is no sketch."""
    return frozenset(_unpacked(packed).tolist())


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


def _compared(part: str, whole: Iterable[str]) -> tuple[Hashes, NDArray[np.bool_], int]:
    """The hashes of ``part``, which of them stand in ``whole``, and up to where the sketches tell of every word."""
    mine = _unpacked(part)
    seen = np.zeros(len(mine), dtype=bool)
    reach = _reach(mine)
    for other in map(_unpacked, whole):
        seen |= np.isin(mine, other)
        reach = min(reach, _reach(other))
    return mine, seen, reach


def _hash(word: str) -> int:
    return zlib.crc32(word.encode()) & _MOST


@lru_cache(maxsize=1)
def _common() -> Hashes:
    """Hashes of the words that stand in one of 125 texts of our corpora, or more: they tell of no subject."""
    words = files("detectors.text").joinpath("common.txt").read_text(encoding="utf-8").split()
    return np.array([_hash(word) for word in words], dtype=np.uint16)


def _packed(hashes: Iterable[int]) -> str:
    kept = np.array(sorted(set(hashes))[:KEPT], dtype=">u2")
    return base64.b85encode(kept.tobytes()).decode()


def _reach(hashes: Hashes) -> int:
    return int(hashes[-1]) if len(hashes) >= KEPT else _MOST


def _unpacked(packed: str) -> Hashes:
    """Nothing for what is no sketch."""
    try:
        whole = base64.b85decode(packed)
    except (ValueError, binascii.Error):
        return np.empty(0, dtype=np.uint16)
    return np.frombuffer(whole[: len(whole) // 2 * 2], dtype=">u2").astype(np.uint16)
