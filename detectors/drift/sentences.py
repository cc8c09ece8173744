"""Sentences as numbers, so that one which fills replies can be counted and named without keeping its words (M7)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from detectors.text.windows import units

ID_BYTES: Final = 5
"""40 bits: among a million sentences two share an id with a chance of one in two."""
MOST: Final = 8  # sentences of one reply that are counted
SHORTEST: Final = 6.0  # units: what is shorter ("yes, of course") is no template
_LEFT_OUT: Final = re.compile(r"[\W_]+")
_DIGITS: Final = re.compile(r"\d+")


def sentence_ids(sentences: Iterable[str], key: bytes = b"") -> tuple[int, ...]:
    """Ids of the first sentences that are long enough, ascending, each once. Signs, spaces and figures do not tell apart.

    ``key`` is at most 64 bytes; without one an id hides nothing from who can guess the sentence.
    """
    ids: dict[int, None] = {}
    for sentence in sentences:
        if len(ids) >= MOST:
            break
        if units(sentence) >= SHORTEST:
            ids[_id(sentence, key)] = None
    return tuple(sorted(ids))


def name_of(sentence: int) -> str:
    """The id as it is shown: ten hexadecimal digits."""
    return f"{sentence:010x}"


def _id(sentence: str, key: bytes) -> int:
    bare = _LEFT_OUT.sub("", _DIGITS.sub("0", sentence))
    return int.from_bytes(
        hashlib.blake2b(bare.encode(errors="replace"), key=key, digest_size=ID_BYTES).digest(), "big"
    )
