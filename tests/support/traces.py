"""Looks for words in bytes in every dress that they may wear on their way out."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from urllib.parse import quote


def forms(word: str) -> set[bytes]:
    """The word as UTF-8 and UTF-16, escaped as JSON, Python, HTML and URLs escape, in hex and in base64."""
    plain = word.encode()
    found = {plain, word.encode("utf-16-le"), word.encode("utf-16-be"), plain.hex().encode()}
    found |= {word.encode("unicode_escape"), word.encode("ascii", "xmlcharrefreplace")}
    found |= {repr(plain)[2:-1].encode(), quote(word, safe="").encode()}
    found |= {form.replace(b"\\", b"\\\\") for form in found}  # escaped once more, as a log does
    for shift in range(3):  # whatever stands before the word
        encoded = base64.b64encode(b"\0" * shift + plain)
        found.add(encoded[4 if shift else 0 : -4])  # its ends depend on its neighbours
    return found


def traces(words: Iterable[str], places: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return where which word was found."""
    dresses = {word: forms(word) for word in words}
    return [
        (place, word)
        for place, content in places.items()
        for word, worn in dresses.items()
        if any(form in content for form in worn)
    ]
