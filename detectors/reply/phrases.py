"""Phrases as data: named kinds, what must not stand around them, and how they are found.

A pattern is a regular expression over normalised text (``detectors.reply.text``): lower case, simplified
characters, one sentence a line. Write ``_`` for a short gap inside a clause and ``~`` for one inside a
sentence; both are bounded, so the time stays linear in the length of the reply. Words in braces are named groups of words
(``VOCABULARY``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

GAP_IN_CLAUSE = r"[^,;:\n]{0,12}"
GAP_IN_SENTENCE = r"[^\n]{0,30}"
_WORD = re.compile(r"\{([a-z_]+)\}")
_BREAKS = ",;:\n"
_NEGATED_ZH = re.compile(
    r"(?:不|没|别|非|未|莫|勿|休|免|无须|无需|不是|并不|不要|不用|不必|没有|不会|不该|不算|从不)[^,;:\n]{0,3}$"
)
_NEGATED_EN = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\bnothing|\bwithout|\bnobody|\bdont|\bcannot|\bisnt|\baint|\bnor)(?:\s+[\w']+){0,3}\s*$"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of phrase.

    ``negatable``: a negation shortly before the phrase in its clause takes it back ("you are *not* selfish").
    ``unless``: patterns that take it back when they stand in the same sentence.
    """

    name: str
    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()
    negatable: bool = True
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase found: which kind, and on which line. Holds no text."""

    kind: str
    line: int


class Phrasebook:
    """Kinds compiled together with the vocabulary that they use."""

    def __init__(self, kinds: Iterable[Kind], vocabulary: Mapping[str, str] | None = None) -> None:
        words = vocabulary or {}
        self._kinds = tuple(_Compiled(kind, words) for kind in kinds)

    def find(self, text: str) -> tuple[Hit, ...]:
        """Return every kind found in ``text`` with its line numbers, each kind once a line."""
        hits: dict[Hit, None] = {}
        for kind in self._kinds:
            for start in kind.starts(text):
                hits[Hit(kind.name, text.count("\n", 0, start))] = None
        return tuple(hits)

    def names(self, text: str) -> frozenset[str]:
        """Return the kinds found in ``text``. Cheaper than ``find``: it stops at the first of each."""
        return frozenset(kind.name for kind in self._kinds if next(kind.starts(text), None) is not None)


class _Compiled:
    def __init__(self, kind: Kind, words: Mapping[str, str]) -> None:
        self.name = kind.name
        self._negatable = kind.negatable
        self._pattern = re.compile(_alternatives(kind.zh, kind.en, words))
        self._unless = re.compile(_alternatives(kind.unless, (), words)) if kind.unless else None

    def starts(self, text: str) -> Iterator[int]:
        for match in self._pattern.finditer(text):
            start = match.start()
            if self._negatable and _negated(text, start):
                continue
            if self._unless is not None and self._unless.search(*_sentence(text, start, match.end())):
                continue
            yield start


def _alternatives(zh: Iterable[str], en: Iterable[str], words: Mapping[str, str]) -> str:
    chinese = [_expand(pattern, words) for pattern in zh]
    english = [_expand(pattern, words) for pattern in en]
    parts = chinese + ([rf"\b(?:{'|'.join(english)})\b"] if english else [])
    return "|".join(parts)


def _expand(pattern: str, words: Mapping[str, str]) -> str:
    filled = _WORD.sub(lambda match: f"(?:{_expand(words[match[1]], words)})", pattern)
    return filled.replace("~", GAP_IN_SENTENCE).replace("_", GAP_IN_CLAUSE)


def _negated(text: str, start: int) -> bool:
    clause = max(text.rfind(mark, max(0, start - 40), start) for mark in _BREAKS)
    before = text[max(clause + 1, start - 40) : start]
    return bool(_NEGATED_ZH.search(before) or _NEGATED_EN.search(before))


def _sentence(text: str, start: int, end: int) -> tuple[str]:
    first = text.rfind("\n", max(0, start - 300), start) + 1 or max(0, start - 300)
    last = text.find("\n", end, end + 300)
    return (text[first : last if last >= 0 else end + 300],)
