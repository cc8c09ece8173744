"""What the surface of a reply shows: length, questions, exclamations, pictures, lists, scripts. Shares 0-1."""

from __future__ import annotations

import math
import re
from typing import Final

from detectors.text.windows import units

_LONGEST: Final = 600.0  # units of length (a Chinese character) at which the scale ends
_READ: Final = 6_000  # characters

_EMOJI: Final = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2764]")
_MOST_EMOJI: Final = 5
_LAID_OUT: Final = re.compile(
    r"^[ \t]*(?:[-*•·▪]\s|#{1,6}\s|>\s|\d{1,2}[.、)）]\s*\S|\|)|\*\*[^*\n]+\*\*|```", re.MULTILINE
)
_HAN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_WIDE: Final = frozenset({"zh", "ja", "ko"})
_LETTERS_A_WORD: Final = 4


def length(text: str) -> float:
    """On a logarithmic scale, as lengths of texts spread: 0 for nothing, 1 for 600 Chinese characters or more."""
    return min(1.0, math.log1p(units(text[:_READ])) / math.log1p(_LONGEST))


def questions(sentences: list[str]) -> float:
    """Share of sentences that end in a question mark."""
    return _share(sentences, "?")


def exclamations(sentences: list[str]) -> float:
    return _share(sentences, "!")


def emoji(text: str) -> float:
    """Five or more pictures are 1."""
    return min(1.0, len(_EMOJI.findall(text[:_READ])) / _MOST_EMOJI)


def layout(text: str) -> float:
    """Lines that are items, headings, quotations or rows, and stretches set in bold, against all lines."""
    shown = text[:_READ]
    lines = sum(1 for line in shown.split("\n") if line.strip())
    return min(1.0, len(_LAID_OUT.findall(shown)) / lines) if lines else 0.0


def other_script(text: str, language: str) -> float:
    """Share of words that are written in another script than the language's own. Letters in brackets of code count, too."""
    shown = text[:_READ]
    wide, latin = len(_HAN.findall(shown)), len(_LATIN.findall(shown)) / _LETTERS_A_WORD
    foreign = latin if language in _WIDE else wide
    return foreign / (wide + latin) if wide + latin else 0.0


def _share(sentences: list[str], mark: str) -> float:
    return sum(mark in one[-3:] for one in sentences) / len(sentences) if sentences else 0.0
