"""One form for width, quotes, script, case and spaces, and nothing more: the order of characters stays."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

_SPACES = re.compile(r"[^\S\n]+")
_PLAIN = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "＇": "'",
        "‐": "-",
        "‑": "-",
        "–": "-",
        "—": ",",
        "、": ",",
        "，": ",",
        "；": ";",
        "：": ":",
    }
)
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x180E, *range(0x202A, 0x202F)])


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    """Traditional characters to their simplified form, one for one (OpenCC's character table)."""
    table = files("opencc").joinpath("dictionary", "TSCharacters.txt").read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in table.splitlines() if "\t" in line)
    return {ord(old): new.split(" ")[0] for old, new in pairs if len(old) == 1}


def well_formed(text: str) -> str:
    """Surrogate pairs joined, lone surrogates replaced, so that every later step can encode the text."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain(text: str) -> str:
    """Width, quotes, script, case and spaces in one form; keeps line breaks and the order of characters.

    Accepts any string, lone surrogates included.
    """
    text = well_formed(text).translate(_INVISIBLE).translate(_PLAIN)
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return _SPACES.sub(" ", text.translate(_simplified()).lower().replace("\r", "\n"))
