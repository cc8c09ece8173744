"""Parroting: a reply made of the user's own words (J7)."""

from __future__ import annotations

import re
from itertools import pairwise

from detectors.reply.text import normalise

MOSTLY = 0.6
"""Share of a reply that may be the user's words before it counts as an echo."""
_UNITS = re.compile(r"[一-鿿]|[^\W\d_一-鿿]+(?:'[^\W\d_]+)?|\d+")
_TURNED = {
    "i": "you",
    "i'm": "you're",
    "im": "you're",
    "my": "your",
    "me": "you",
    "mine": "yours",
    "我": "你",
    "am": "are",
    "myself": "yourself",
    "i've": "you've",
    "您": "你",
}
_READ = 2_000


def echo(user_text: str, reply_text: str) -> bool:
    """True where most of the reply repeats what the user said, with the persons turned round."""
    return overlap(user_text, reply_text) >= MOSTLY


def overlap(user_text: str, reply_text: str) -> float:
    """Share, 0–1, of the reply's pairs of neighbouring words that stand in the user's text."""
    said = _pairs(reply_text)
    if len(said) < 4:  # too little to be told from chance
        return 0.0
    known = set(_pairs(user_text))
    return sum(pair in known for pair in said) / len(said)


def _pairs(text: str) -> list[tuple[str, str]]:
    units = [_TURNED.get(unit, unit) for unit in _UNITS.findall(normalise(text[:_READ]))]
    return list(pairwise(units))
