"""One normal form for every way of writing the same words (D1), before any pattern or encoder sees them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache

from opencc import OpenCC

from detectors.text.coded import read_coded
from detectors.text.idioms import read_idioms
from detectors.text.lookalikes import fold_lookalikes, read_leet, segment
from detectors.text.plain import well_formed

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\u0334-\u0338\u20d0-\u20e1\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_QUOTES = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "‛": "'",
        "ʼ": "'",
        "´": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "＇": "'",
        "…": "...",
    }
)
_MARKS = re.compile(r"([\u0300-\u036f]{3})[\u0300-\u036f]+")
_HAN = r"\u3400-\u9fff\uf900-\ufaff"
_ANY_HAN = re.compile(f"[{_HAN}]")
# 刚 才 已 经: runs of single characters; one stray character beside a word: 好想 死
_HAN_RUN = re.compile(rf"(?<![{_HAN}])[{_HAN}](?:[ \u3000][{_HAN}])+(?![{_HAN}])")
# s u i c i d e, h.u.r.t, s-h: runs of single letters with one and the same separator
_LETTER_RUN = re.compile(
    r"(?<![A-Za-z0-9'.])[A-Za-z](?:(?P<sep>[ .\-_*·•~|/+,])[A-Za-z])(?:(?P=sep)[A-Za-z]){1,30}(?![A-Za-z])"
)
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")
_HAN_GAP = re.compile(rf"(?<=[{_HAN}]) +(?=[{_HAN}])")
_SIGN_RUN = re.compile(r"([!?。！？.,，~～、])\1{3,}")
_SPACES = re.compile(r"[ \t\u3000]+")
_SHORT_SPACED = 4
TEXT_LIMIT = (
    200_000  # characters read of one turn; of longer ones three quarters from the head, one from the tail
)


@dataclass(frozen=True, slots=True)
class Normal:
    """The normal form.

    ``obfuscated``: the writer hid words on purpose (look-alikes, separators, codes);
    ``idiom``: an idiom with a word of death in it has been put plainly.
    """

    text: str = field(repr=False)
    obfuscated: bool = False
    idiom: bool = False


@cache
def _simplifier() -> OpenCC:
    return OpenCC("t2s")


def _join_letters(match: re.Match[str]) -> str:
    run, separator = match.group(), match.group("sep")
    letters = run.split(separator)
    if separator == " " and len(letters) < _SHORT_SPACED:
        return run
    if separator == "." and run.isupper():
        return run  # an acronym
    return segment("".join(letters))


def normalise(text: str) -> Normal:
    """Bring a text to its normal form: NFKC, simplified Chinese, plain apostrophes, hidden words spelt out.

    Work is bounded (``TEXT_LIMIT``); accepts any string, lone surrogates included.
    """
    if len(text) > TEXT_LIMIT:
        text = text[: TEXT_LIMIT * 3 // 4] + "\n" + text[-TEXT_LIMIT // 4 :]
    text = unicodedata.normalize("NFKC", _MARKS.sub(r"\1", well_formed(text)))
    visible = _INVISIBLE.sub("", text)
    hidden = len(text) - len(visible) > 0 and bool(re.search(r"\w[\u200b-\u200d\u2060\u00ad\ufeff]\w", text))
    text = _CONTROL.sub(" ", visible).translate(_QUOTES)
    if _ANY_HAN.search(text):
        text = _simplifier().convert(text)
    joined = _HAN_RUN.sub(lambda match: re.sub(r"\s", "", match.group()), text)
    joined = _LETTER_RUN.sub(_join_letters, joined)
    hidden = hidden or joined != text
    text, folded = fold_lookalikes(joined)
    text, leet = read_leet(text)
    text, coded = read_coded(text)
    hidden = hidden or folded or leet or coded
    text, idiom = read_idioms(text)
    if hidden:
        text = _HAN_GAP.sub("", text)
    text = _SIGN_RUN.sub(r"\1\1\1", _LONG_RUN.sub(r"\1\1", text))
    return Normal(_SPACES.sub(" ", text).strip(), hidden, idiom)
