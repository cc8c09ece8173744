"""Letters that pass for Latin ones inside a word: "suiсide" with a Cyrillic с, "d!e", "k*ll"."""

from __future__ import annotations

import re

# NFKC has already folded full-width, mathematical and circled letters; these are the scripts it leaves alone.
_CYRILLIC = dict(
    zip(
        "аАвВсСԁеЕёЁнНіІїјЈкКӏмМоОрРԛѕЅтТуУхХԝдДиИпПгГзЗбБ",
        "aAbBcCdeEeEhHiIijJkKlmMoOpPqsStTyYxXwdDiInNrR3Eb6",
        strict=True,
    )
)
_GREEK = dict(zip("αΑΒβΕεΗηΙιΚκΜΝνΟοΡρΤτΥυΧχΖω", "aABbEeHnIiKkMNvOoPpTtYuXxZw", strict=True))
_OTHER = dict(zip("ıɑɡɩʟɴʀꜱᴀᴇᴏᴜ", "iagilnrsaeou", strict=True))
_MAP = str.maketrans(_CYRILLIC | _GREEK | _OTHER)
_FOREIGN = re.compile(f"[{''.join(_CYRILLIC | _GREEK | _OTHER)}]")
_LATIN = re.compile(r"[A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+")


def fold_lookalikes(text: str) -> tuple[str, bool]:
    """Latin letters for look-alikes in words that mix scripts, or that stand in a mostly Latin text.

    Genuine Cyrillic or Greek text stays as it is. The flag says whether anything was folded.
    """
    if not _FOREIGN.search(text):
        return text, False
    latin_text = len(_LATIN.findall(text)) > len(_FOREIGN.findall(text))
    folded = False

    def fold(match: re.Match[str]) -> str:
        nonlocal folded
        word = match.group()
        if not _FOREIGN.search(word):
            return word
        out = word.translate(_MAP)
        mixed = bool(_LATIN.search(word))
        if (mixed or latin_text) and out.isascii():
            folded = True
            return out
        return word

    return _WORD.sub(fold, text), folded


# words worth reading through digits, signs and stars; a closed list, so that "B2B" or "10k" stay as they are
_READABLE_WORDS = """
    want wanna to i my me myself mine mum kill killed killing killer die dead death dying suicide suicidal suicides
    end ended ending life live living alive unalive unalived unaliving self harm harmed harming hurt hurting
    myselves not no one can cant see here there anymore never wake hate tonight plan planned set done did it over
    goodbye bye letter note gone please help for so about thats all in head sui kms
    die be home school sister without they wont back til until sick feel
    """
_READABLE = frozenset(_READABLE_WORDS.split())
_LONGEST = max(map(len, _READABLE))


def segment(letters: str) -> str:
    """Put the spaces back into a run of letters ("iwanttodie"), if it is made of words of the closed list."""
    low = letters.lower()
    best: list[list[str] | None] = [[]] + [None] * len(low)
    for end in range(1, len(low) + 1):
        for start in range(max(0, end - _LONGEST), end):
            before = best[start]
            if before is None or low[start:end] not in _READABLE:
                continue
            held = best[end]
            if held is None or len(before) + 1 < len(held):
                best[end] = [*before, low[start:end]]
    found = best[-1]
    return " ".join(found) if found else letters


_LEET = str.maketrans("0134578@$!|", "oieastbasii")
_LEET_L = str.maketrans("0134578@$!|", "oleastbasll")
_LEET_TOKEN = re.compile(r"(?<![\w@$!|*#])[\w@$!|*#]{2,14}(?![\w@$*#])")
_HAS_LETTER = re.compile(r"[A-Za-z]")
_HAS_SIGN = re.compile(r"[0134578@$!|*#]")


def read_leet(text: str) -> tuple[str, bool]:
    """Read words like ``k1ll``, ``d!e`` or ``k*ll`` where the reading is a plain word of the closed list."""
    if not (_HAS_SIGN.search(text) and _HAS_LETTER.search(text)):
        return text, False
    changed = False

    def read(match: re.Match[str]) -> str:
        nonlocal changed
        token = match.group()
        body = token.rstrip("!|")
        tail = token[len(body) :]
        if not (_HAS_LETTER.search(body) and _HAS_SIGN.search(body)):
            return token
        low = body.lower()
        if "*" in low or "#" in low:
            pattern = re.compile(
                re.sub(r"[*#]", "[a-z]", re.escape(low).replace(r"\*", "*").replace(r"\#", "#"))
            )
            found = sorted(word for word in _READABLE if len(word) > 2 and pattern.fullmatch(word))
            word = found[0] if found else None
        else:
            readings = (low.translate(_LEET), low.translate(_LEET_L))
            word = next((reading for reading in readings if reading in _READABLE), None)
        if word is None:
            return token
        changed = True
        return word + tail

    return _LEET_TOKEN.sub(read, text), changed
