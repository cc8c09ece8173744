"""Explicit signals: a named pattern with the level it speaks for, and who or what it is said of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from detectors.finding import Level


@dataclass(frozen=True, slots=True)
class Signal:
    """``strength`` 2: the words alone nearly say it; 1: they say it together with others."""

    name: str
    level: Level
    strength: int
    pattern: re.Pattern[str]


def signal(name: str, level: Level, strength: int, pattern: str) -> Signal:
    return Signal(name, level, strength, re.compile(pattern, re.IGNORECASE))


class Said(StrEnum):
    """How a signal is meant, read from the clause before it."""

    OWN = "own"  # of the speaker, affirmed
    NEGATED = "negated"
    OTHER = "other"  # of somebody else


@dataclass(frozen=True, slots=True)
class Heard:
    signal: Signal
    said: Said


_CLAUSE = re.compile(r"[,，。.!！?？;；:：\n()（）]")
_REACH = 40  # characters looked back
_QUOTE_REACH = 1000

_ZH_NOT = re.compile(
    r"(?:不是(?:真的|真)?|没有?|并不是?|并非|从来?没有?|从不|不会(?:真的)?|绝不|不再|不可能|不敢|不至于|别|不要|不|哪会|怎么会|无意|不打算|没打算|不准备)(?:真的|真|要|再|会|去|的)*$"
)
_EN_NOT = re.compile(
    r"(?:\bnot|n't|\bdont|\bnever|\bno|\bwithout|\bwont|\bcannot|\baren't|\bno longer|\bnobody|\bneither|\bnor)(?: (?:actually|really|going|gonna|to|be|want|wanna|wanting|planning|thinking|about|of|even|ever|feeling|feel|any|a|been|currently|the|trying|that|i|am|was|saying|said|mean|do|have|had|having))*\s*$"
)
_ZH_OWN = re.compile(
    r"我(?!们?(?:的)?(?:朋友|同学|室友|妈|爸|哥|姐|弟|妹|老公|老婆|男友|女友|男朋友|女朋友|闺蜜|同事|奶奶|爷爷|外婆|外公|孩子|儿子|女儿|叔|姑|舅|姨|侄|表|堂|邻居|前任|对象|徒弟|学生|家))|咱|自己|本人|俺"
)
_ZH_OTHER = re.compile(
    r"他(?!妈)|她|它|有人|别人|人家|大家|朋友|同学|室友|同桌|妈妈|爸爸|我妈|我爸|哥哥|姐姐|弟弟|妹妹|我哥|我姐|我弟|我妹|老公|老婆|丈夫|妻子|男友|女友|男朋友|女朋友|闺蜜|同事|奶奶|爷爷|外婆|外公|孩子|儿子|女儿|叔|姑姑|舅|姨|邻居|前任|对象|学生|学妹|学弟|主角|角色|明星|演员|歌手|作家|网友|博主|人物|患者|病人|谁"
)
_EN_OWN = re.compile(
    r"\b(?:i|i'm|im|i've|ive|i'd|i'll|me|my|myself|mine)\b(?! (?:friend|brother|sister|mum|mom|dad|wife|husband|son|daughter|cousin|uncle|aunt|roommate|flatmate|boyfriend|girlfriend|ex|mate|best|neighbour|neighbor|boss|teacher|colleague|client|student))"
)
_EN_OTHER = re.compile(
    r"\b(?:he|she|they|him|her|someone|somebody|people|everyone|anybody|friend|brother|sister|mum|mom|dad|wife|husband|son|daughter|cousin|uncle|aunt|roommate|flatmate|boyfriend|girlfriend|ex|mate|neighbour|neighbor|boss|teacher|colleague|client|student|character|actor|singer|author|man|woman|guy|girl|boy|kid|who)\b"
)


def _clause_before(text: str, start: int) -> str:
    left = text[max(0, start - _REACH) : start]
    return _CLAUSE.split(left)[-1]


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.start() for match in pattern.finditer(text)), default=-1)


_SHUT = re.compile(r'["」』》]')
_SELF_QUOTE = re.compile(r"我|\bi\b|\bmy\b|\bme\b")


def _quoted(text: str, start: int, end: int) -> bool:
    """Inside quotation marks, and not the speaker's own words."""
    if len(text) > _QUOTE_REACH:
        text, start, end = (
            text[max(0, start - 400) : end + 400],
            min(start, 400),
            min(start, 400) + end - start,
        )
    marks = [match.start() for match in re.finditer(r'"', text)]
    before = [mark for mark in marks if mark < start]
    if len(before) % 2 == 1 and any(mark >= end for mark in marks):
        opening = before[-1]
    else:
        opening = max((m.start() for m in re.finditer(r"[「『《]", text[:start])), default=-1)
        if opening == -1 or _SHUT.search(text[opening:start]) or not _SHUT.search(text[end:]):
            return False
    return not _SELF_QUOTE.search(text[max(0, opening - 12) : opening])


def meant(signal_: Signal, text: str, match: re.Match[str]) -> Said:
    """How one match is meant, read from its clause."""
    chinese = signal_.name.startswith("zh")
    before = _clause_before(text, match.start())
    if (_ZH_NOT if chinese else _EN_NOT).search(before):
        return Said.NEGATED
    if _quoted(text, match.start(), match.end()):
        return Said.OTHER
    if signal_.level is Level.HARM_TO_OTHERS:
        return Said.OWN
    if match.group().startswith("我"):
        before += match.group()  # 我朋友想…: the subject is inside the match
    own = _last(_ZH_OWN if chinese else _EN_OWN, before)
    other = _last(_ZH_OTHER if chinese else _EN_OTHER, before)
    return Said.OTHER if other > own else Said.OWN


def read(signal_: Signal, text: str) -> list[Heard]:
    """Every way one signal is said in a text, at most once each."""
    found: dict[Said, Heard] = {}
    for match in signal_.pattern.finditer(text):
        said = meant(signal_, text, match)
        found.setdefault(said, Heard(signal_, said))
        if len(found) == len(Said):
            break
    return list(found.values())
