"""Phrases as data: named kinds, what must not stand around them, and how they are found.

The kinds stand in ``lexicon/*.toml``, one alternative a line: regular expressions over normalised text
(``detectors.reply.text``: lower case, simplified characters, one sentence a line). ``_`` is a short gap inside a clause,
``~`` one inside a sentence; both are bounded, so the time grows with the length of the reply and no faster.
Words in braces are groups of ``lexicon/words.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from detectors.reply.rhetoric import straight

GAP_IN_CLAUSE = r"[^,;:\n]{0,12}"
GAP_IN_SENTENCE = r"[^\n]{0,30}"
_WORD = re.compile(r"\{([a-z_]+)\}")
_HAN = re.compile(r"[一-鿿]")
_LATIN = re.compile(r"[a-z]{2} ?[a-z]{2}|\d{3}")
_END = r"(?!(?<=\w)\w)"  # a word is not cut; a sign may stand at the end
_ASKED_ZH = re.compile(
    r"(?:能不能|要不要|会不会|是不是|有没有|可不可以|愿不愿意?|想不想|好不好|行不行)[^,;:\n]{0,3}$"
)
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
    ``rhetoric``: a negative question ("aren't you selfish?") says it, too, and takes nothing back.
    """

    name: str
    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()
    negatable: bool = True
    unless: tuple[str, ...] = ()
    rhetoric: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase found: which kind, and on which line. Holds no text."""

    kind: str
    line: int


class Phrasebook:
    """Kinds compiled together with the vocabulary that they use."""

    def __init__(self, kinds: Iterable[Kind], words: Mapping[str, str]) -> None:
        self._kinds = tuple(_Compiled(kind, words) for kind in kinds)

    def find(self, text: str) -> tuple[Hit, ...]:
        """Return every kind found in ``text`` with its line numbers, each kind once a line."""
        hits: dict[Hit, None] = {}
        for kind in self._kinds:
            for start in kind.starts(text):
                hits[Hit(kind.name, text.count("\n", 0, start))] = None
        return tuple(hits)

    def only(self, *names: str) -> Phrasebook:
        """The book of these kinds alone."""
        book = Phrasebook((), {})
        book._kinds = tuple(kind for kind in self._kinds if kind.name in names)
        return book

    def without(self, name: str, text: str) -> str:
        """Return ``text`` with the phrases of one kind taken out, each leaving a clause's end; lines stay."""
        for kind in self._kinds:
            if kind.name == name:
                text = kind.cut(text)
        return text

    def first(self, text: str) -> dict[str, int]:
        """Return the kinds found in ``text``, each with its first line. Cheaper than ``find``: it stops there."""
        starts = ((kind.name, next(kind.starts(text), None)) for kind in self._kinds)
        return {name: text.count("\n", 0, start) for name, start in starts if start is not None}


def load(*names: str, rhetoric: bool = False) -> Phrasebook:
    """Return the phrases of ``lexicon/NAME.toml``, several files in one book."""
    tables = (_table(name).items() for name in names)
    return Phrasebook(
        [_kind(name, entry, rhetoric=rhetoric) for table in tables for name, entry in table], _words()
    )


def _kind(name: str, entry: Mapping[str, Any], *, rhetoric: bool) -> Kind:
    lines = {field: _lines(entry.get(field, "")) for field in ("zh", "en", "unless")}
    return Kind(name=name, negatable=entry.get("negatable", True), rhetoric=rhetoric, **lines)


@lru_cache(maxsize=1)
def _words() -> Mapping[str, str]:
    return {name: "|".join(_lines(block)) for name, block in _table("words").items()}


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(
        files("detectors.reply").joinpath("lexicon", f"{name}.toml").read_text(encoding="utf-8")
    )


def _lines(block: str) -> tuple[str, ...]:
    return tuple(line for line in block.split("\n") if line)


class _Compiled:
    def __init__(self, kind: Kind, words: Mapping[str, str]) -> None:
        self.name = kind.name
        self._negatable = kind.negatable
        self._rhetoric = kind.rhetoric
        self._chinese = re.compile(_alternatives(kind.zh, (), words)) if kind.zh else None
        self._english = re.compile(_alternatives((), kind.en, words)) if kind.en else None
        self._unless = re.compile(_alternatives(kind.unless, (), words)) if kind.unless else None

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        chinese, english = _written_in(text)
        if chinese and self._chinese is not None:
            yield from self._chinese.finditer(text)
        if english and self._english is not None:
            yield from self._english.finditer(text)

    def cut(self, text: str) -> str:
        for match in reversed(list(self._matches(text))):
            text = text[: match.start()] + "," + "\n" * match[0].count("\n") + text[match.end() :]
        return text

    def starts(self, text: str) -> Iterator[int]:
        for match in self._matches(text):
            sentence, start, end = _sentence(text, match.start(), match.end())
            if self._rhetoric:
                sentence, start = straight(sentence, start, end)
            if self._negatable and _negated(sentence, start):
                continue
            if self._unless is not None and self._unless.search(sentence):
                continue
            yield match.start()


def _written_in(text: str) -> tuple[bool, bool]:
    """Whether there is any Chinese, and any English, to look for."""
    return _HAN.search(text) is not None, _LATIN.search(text) is not None


def _alternatives(zh: Iterable[str], en: Iterable[str], words: Mapping[str, str]) -> str:
    chinese = [_expand(pattern, words) for pattern in zh]
    english = [_expand(pattern, words) for pattern in en]
    parts = chinese + ([rf"\b(?:{'|'.join(english)}){_END}"] if english else [])
    return "|".join(parts)


def _expand(pattern: str, words: Mapping[str, str]) -> str:
    filled = _WORD.sub(lambda match: f"(?:{_expand(words[match[1]], words)})", pattern)
    return filled.replace("~", GAP_IN_SENTENCE).replace("_", GAP_IN_CLAUSE)


def _negated(text: str, start: int) -> bool:
    clause = max(text.rfind(mark, max(0, start - 40), start) for mark in _BREAKS)
    before = text[max(clause + 1, start - 40) : start]
    if _NEGATED_EN.search(before):
        return True
    return _NEGATED_ZH.search(before) is not None and _ASKED_ZH.search(before) is None


def _sentence(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The sentence about a phrase, and where the phrase stands in it."""
    first = text.rfind("\n", max(0, start - 300), start) + 1 or max(0, start - 300)
    last = text.find("\n", end, end + 300)
    return text[first : last if last >= 0 else end + 300], start - first, end - first
