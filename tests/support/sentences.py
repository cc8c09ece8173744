"""Sentences compared: what is nearly the same, what was taken from others, what names a method."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

FOREIGN = Path(__file__).parents[3] / "shared" / "data"
METHODS = Path(__file__).parents[1] / "detectors" / "method_words.sha256"
_SIGNS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
RUN = re.compile(f"[{_SIGNS}]+")
WORD = re.compile(rf"[^\W\d_{_SIGNS}]+")


class _Kept(dict[int, int | None]):
    """For ``str.translate``: signs, spaces and controls vanish."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self[code]


KEPT = _Kept()


def plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().translate(KEPT)


def alike(some: list[str], least: float) -> Iterator[tuple[int, int]]:
    """Pairs whose character 5-grams have a Jaccard index above ``least``.

    Two such sets share one of their rarest few (prefix filter: Chaudhuri et al. 2006); only those are compared.
    """
    grams = [frozenset(text[i : i + 5] for i in range(max(1, len(text) - 4))) for text in some]
    often = Counter(gram for one in grams for gram in one)
    index: dict[str, list[int]] = defaultdict(list)
    for i, mine in enumerate(grams):
        rare = sorted(mine, key=lambda gram: (often[gram], gram))
        prefix = rare[: len(rare) - math.ceil(least * len(rare)) + 1]
        for j in sorted({j for gram in prefix for j in index[gram]}):
            if len(mine & grams[j]) > least * len(mine | grams[j]):
                yield i, j
        for gram in prefix:
            index[gram].append(i)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def starts(text: str, length: int) -> np.ndarray:
    """A number for each piece of this length (Rabin and Karp 1987), so that few rows need the slow look."""
    signs = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    found = np.zeros(max(0, len(signs) - length + 1), dtype=np.uint64)
    for place in range(length):
        found = found * np.uint64(1_000_003) + signs[place : place + len(found)]
    return found


def words(text: str) -> Iterator[str]:
    """Words in Latin and other alphabets, and each piece of 2 to 4 signs of the others."""
    lower = unicodedata.normalize("NFKC", text).lower()
    yield from WORD.findall(lower)
    for run in RUN.findall(lower):
        for length in (2, 3, 4):
            yield from (run[i : i + length] for i in range(len(run) - length + 1))


def taken_from_others(ours: Mapping[str, str], *, least: int) -> set[str]:
    """Names of the texts (plain text to name) of at least ``least`` signs that stand in the files of others."""
    foreign = "\n".join(
        plain(text)
        for file in sorted(FOREIGN.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
        for text in strings(json.loads(line))
    )
    long = {text: name for text, name in ours.items() if len(text) >= least}
    heads = starts("".join(text[:least] for text in long), least)[::least]
    sorted_heads, pieces = np.sort(heads), starts(foreign, least)
    nearest = sorted_heads[np.searchsorted(sorted_heads, pieces).clip(max=len(heads) - 1)]
    met = set(pieces[nearest == pieces].tolist())
    maybe = [text for text, head in zip(long, heads.tolist(), strict=True) if head in met]
    return {long[text] for text in maybe if text in foreign}


def naming_a_method(texts: Iterator[tuple[str, str]]) -> set[str]:
    """Names of those of (name, text) with a banned word. The words themselves stand nowhere: only their digests do."""
    banned = set(METHODS.read_text(encoding="ascii").split())
    held: dict[str, str] = {}
    for name, text in texts:
        for word in words(text):
            held.setdefault(word, name)
    return {held[word] for word in held if hashlib.sha256(word.encode()).hexdigest() in banned}
