"""Strings made fit for one line on somebody's telephone: no control signs, no half characters, a length."""

from __future__ import annotations

import hashlib
import unicodedata

_ZWJ = "\u200d"
_ELLIPSIS = "…"
_KEY_LIMIT = 255


def one_line(text: str) -> str:
    """Replace lone surrogates, drop control and direction signs, fold white space."""
    return " ".join("".join(_kept(sign) for sign in text).split())


def clip(text: str, limit: int) -> str:
    """Cut to ``limit`` UTF-16 units, the strictest way in which receivers count characters.

    A sign of two units (an emoji) is kept whole or left out, and so is one with what belongs to it
    (joiner, variation selector, combining mark). A cut shows as an ellipsis.
    """
    if _units(text) <= limit:
        return text
    used, end = 0, 0
    for sign in text:
        used += _units(sign)
        if used > limit - 1:
            break
        end += 1
    while end and (_clings(text[end]) or text[end - 1] == _ZWJ):
        end -= 1
    return text[:end].rstrip() + _ELLIPSIS


def fit_key(key: str, limit: int = _KEY_LIMIT) -> str:
    """Return the key, or a stable hash of it where it is too long or not plain ASCII."""
    if 0 < len(key) <= limit and key.isascii() and key.isprintable():
        return key
    return "sha256-" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _kept(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "" if category == "Cf" and sign != _ZWJ else sign


def _clings(sign: str) -> bool:
    return (
        sign == _ZWJ
        or unicodedata.category(sign) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= sign <= "\U0001f3ff"
    )


def _units(text: str) -> int:
    return len(text) + sum(sign > "\uffff" for sign in text)
