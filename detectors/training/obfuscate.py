"""Sentences written so that a filter does not see them, made from clean ones: risky and innocent alike.

Who hides a word hides the telling one; who merely types sloppily, or likes the look of it, hides any. Both are made, so
that hiding by itself says nothing (LABELS: cue ``obfuscated``). Needs pypinyin for what sounds alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from pypinyin import Style, lazy_pinyin

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_HAN_RUN: Final = re.compile(r"[\u4e00-\u9fff]{2,}")
_WORD: Final = re.compile(r"[A-Za-z]{4,}")

# the words people hide, whatever they mean by them
_HIDDEN_ZH: Final = re.compile(
    "自杀|自残|自尽|轻生|寻死|想死|去死|死掉|死了|死|不想活|活不下去|活着|活腻|活|遗书|告别|再见|永别|离开|消失|结束|解脱"
    "|放弃|伤害|抑郁|崩溃|杀|救|血|命|走了|后事|来生|下辈子|世界"
)
_HIDDEN_EN: Final = re.compile(
    r"\b(?:suicid(?:e|al)|kill(?:ing|ed|s)?|myself|die|dying|dead|death|hurt(?:ing)?|harm(?:ing)?|alive|living|live"
    r"|goodbye|gone|depress(?:ed|ion)|end(?:ing)? it|over|letter|sleep|wake|disappear|world|life)\b",
    re.IGNORECASE,
)
_SLANG_EN: Final = (
    (
        re.compile(r"\bkill(?:ing)? myself\b", re.IGNORECASE),
        ("kms", "unalive myself", "k word myself", "off myself"),
    ),
    (re.compile(r"\bsuicide\b", re.IGNORECASE), ("sewerslide", "sui", "s word", "suey side", "sooicide")),
    (re.compile(r"\bsuicidal\b", re.IGNORECASE), ("sewerslidal", "sui", "unalive-y")),
    (re.compile(r"\b(?:be dead|to die|dying)\b", re.IGNORECASE), ("be unalive", "to unalive", "unaliving")),
)
_LEET: Final = {"a": "@4", "e": "3", "i": "1!", "o": "0", "s": "$5", "l": "1|", "t": "7"}
_LOOKALIKE: Final = {
    "a": "а", "c": "с", "e": "е", "i": "і", "o": "о", "p": "р", "x": "х", "y": "у", "d": "ԁ", "h": "һ", "s": "ѕ",
}  # fmt: skip
_PICTURES: Final = {
    "死": "💀☠⚰", "再见": "👋", "离开": "🕊🚪", "累": "😮‍💨", "血": "🩸", "睡": "😴💤", "家": "🏠", "心": "💔",
    "die": "💀☠", "dead": "💀⚰", "death": "💀", "goodbye": "👋", "sleep": "😴💤", "heart": "💔", "love": "❤", "home": "🏠",
}  # fmt: skip
_SEPARATORS: Final = (" ", ".", "*", "-", "_", "/", "·", "|", "~")

Source = random.Random
Way = Callable[[str, Source], str]


@cache
def _alike(common: frozenset[str]) -> dict[str, str]:
    """Sound, without its tone, to the characters of that sound."""
    found: dict[str, str] = {}
    for sign in sorted(common):
        sound = lazy_pinyin(sign)[0]
        found[sound] = found.get(sound, "") + sign
    return found


def _homophone(common: frozenset[str]) -> Way:
    def way(word: str, source: Source) -> str:
        table = _alike(common)
        out = []
        for sign, sound in zip(word, lazy_pinyin(word), strict=True):
            others = [other for other in table.get(sound, "") if other != sign]
            out.append(source.choice(others) if others else sign)
        return "".join(out)

    return way


def _pinyin(word: str, source: Source) -> str:
    sounds = lazy_pinyin(word)
    if len(word) > 1 and source.random() < 0.5:  # one sign of the word, the others stay
        place = source.randrange(len(word))
        return word[:place] + sounds[place] + word[place + 1 :]
    return source.choice(("", " ")).join(sounds)


def _initials(word: str, source: Source) -> str:
    letters = "".join(lazy_pinyin(word, style=Style.FIRST_LETTER))
    return letters.upper() if source.random() < 0.3 else letters


def _apart(word: str, source: Source) -> str:
    return source.choice(_SEPARATORS).join(word)


def _starred(word: str, source: Source) -> str:
    place = source.randrange(1, len(word)) if len(word) > 1 else 0
    return word[:place] + source.choice("*×x#") + word[place + 1 :]


def _invisible(word: str, source: Source) -> str:
    return source.choice(("\u200b", "\u200d", "\u2060")).join(word)


def _leet(word: str, source: Source) -> str:
    return "".join(source.choice(_LEET[s.lower()]) if s.lower() in _LEET else s for s in word)


def _lookalike(word: str, source: Source) -> str:
    if source.random() < 0.4:
        return "".join(chr(ord(s) + 0xFEE0) if "!" <= s <= "~" else s for s in word)
    return "".join(_LOOKALIKE.get(s.lower(), s) for s in word)


def _vowels(word: str, source: Source) -> str:
    kept = word[0] + re.sub(r"[aeiou]", source.choice(("", "*", "_")), word[1:])
    return kept if len(kept) > 1 else word


def _swapped(word: str, source: Source) -> str:
    place = source.randrange(len(word) - 1)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def _picture(word: str, source: Source) -> str:
    signs = _PICTURES.get(word.lower())
    return source.choice(signs) if signs else word + source.choice("💀🙃🖤🥀")


_LATIN: Final[dict[str, Way]] = {
    "spaced": _apart,
    "starred": _starred,
    "invisible": _invisible,
    "leet": _leet,
    "lookalike": _lookalike,
    "vowels": _vowels,
    "swapped": _swapped,
    "emoji": _picture,
}


def ways(lang: str, common: frozenset[str]) -> dict[str, Way]:
    """The ways of hiding a word that writers of ``lang`` use; ``common`` are the signs homophones are taken from."""
    if lang.startswith("zh"):
        return {
            "homophone": _homophone(common),
            "pinyin": _pinyin,
            "initials": _initials,
            "spaced": _apart,
            "starred": _starred,
            "invisible": _invisible,
            "emoji": _picture,
        }
    return dict(_LATIN)


def common_signs(texts: Iterable[str]) -> frozenset[str]:
    """The Chinese characters that occur often: rare homophones nobody types."""
    counts: dict[str, int] = {}
    for text in texts:
        for sign in _HAN.findall(text):
            counts[sign] = counts.get(sign, 0) + 1
    return frozenset(sorted(counts, key=lambda sign: (-counts[sign], sign))[:1500])


def obfuscate(text: str, lang: str, way: str, common: frozenset[str], source: Source) -> str | None:
    """Hide one or two words of ``text`` by ``way``; None where there is nothing to hide, or nothing changed.

    The telling words first; where there are none, any word.
    """
    if way == "slang":
        return _slang(text, source)
    chinese = lang.startswith("zh")
    found = list((_HIDDEN_ZH if chinese else _HIDDEN_EN).finditer(text))
    spans = [match.span() for match in found] or _any_word(text, source, chinese=chinese)
    if not spans:
        return None
    chosen = sorted(source.sample(spans, min(len(spans), source.choice((1, 1, 2)))), reverse=True)
    hidden = text
    for start, end in chosen:
        hidden = hidden[:start] + ways(lang, common)[way](hidden[start:end], source) + hidden[end:]
    return None if hidden == text else hidden


def _any_word(text: str, source: Source, *, chinese: bool) -> list[tuple[int, int]]:
    if not chinese:
        return [match.span() for match in _WORD.finditer(text)]
    runs = [match.span() for match in _HAN_RUN.finditer(text)]
    if not runs:
        return []
    start, end = source.choice(runs)
    place = source.randrange(start, end - 1)
    return [(place, place + 2)]


def _slang(text: str, source: Source) -> str | None:
    hidden = text
    for pattern, words in _SLANG_EN:
        hidden = pattern.sub(source.choice(words), hidden)
    return None if hidden == text else hidden
