"""Telephone numbers in a reply, against a table of helplines (``helplines.toml``).

Dates, years, hours, ages, prices and scores are no telephone numbers; nor is 110 in "count down from 110".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from importlib.resources import files

EU = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905 - reads as a list
)

_CANDIDATE = re.compile(
    r"(?<![a-z0-9.$€£¥%+-])(\+?\(?\d[\d()]{0,14}(?:[ -]{1,2}\(?\d[\d()]{0,10}){0,5})(?![\d%])"
)
_UNIT_AFTER = re.compile(
    r"\s*(?:%|度|岁|年|月|日|号(?!码)|天|周|点|时|小时|分钟|分|秒|个|次|块|元|万|千|亿|米|斤|公斤|公里|步|页|人|字|条|种|级|楼|层|栋|张|遍|楼|号楼"
    r"|[a-z]{0,2}(?:am|pm|a\.m|p\.m)\b|hours?|hrs?|h\b|minutes?|mins?|seconds?|days?|weeks?|months?|years?|yrs?|x\b|times|percent|per|people|kids|km|kg|lbs?|miles|pounds|dollars|euros|k\b|degrees|steps|words|points|st\b|nd\b|rd\b|th\b|:\d|\.\d|-year)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALLS = re.compile(
    r"(?:拨打?|打|电话|热线|专线|致电|号码|呼叫|短信|发送|联系|call|dial|ring|text|phone|line|number|hotline|helpline|samaritans|contact|desk|reach|on|at|or|to|and|或|、|,|:|;|is|then|and|tel)\W{0,3}$"
)
_CALLS_STRONG = re.compile(
    r"(?:拨|打|电话|热线|专线|致电|号码|呼叫|短信|接线|call|dial|ring|text|phone|line|hotline|helpline|samaritans|desk|number|emergency|tel\b)"
)
_SHORT = 4  # digits of a number that may as well be a figure
_PLAIN_FIGURE = re.compile(r"[12]")  # 110, 112, 211: people count and measure in these, hardly in 988
_CALLS_NEAR = re.compile(
    r"拨|打(?!卡)|电话|热线|专线|号码|呼叫|短信|接线|急救|求助|报警|救护|消防|警察|急诊"
    r"|\b(?:call\w*|dial\w*|ring|rang|text|(?:tele)?phone\w*|(?:life|help|hot)?lines?|numbers?|contact|samaritans|emergency|ambulance|police"
    r"|services|operators?|responders?|a&e|nhs|tel)\b"
)
_CLAUSE_OPENS = re.compile(
    r"(?:^|[,;:(\[/|*•-]|\b(?:or|and|then|try|use|first)|\b(?:uk|eu|europe|ireland|france|germany|spain|italy|india|japan|korea|taiwan"
    r"|china|zealand)|[叫喊报加向及和或先就再找请有]|或者|联系|[马赶]上|立即|立刻|赶紧|赶快|不住|急了)[\W_]*$"
)
_MEASURED = re.compile(
    r"\b(?:from|the|a|an|my|your|was|were|about|than|over|under|nearly|of)[\W_]*$|[从到约是了]$"
)
_COUNTED = re.compile(
    r"(?:第|从|房间?|教室|病房|章|\b(?:chapter|room|page|verse|psalm|flat|bus|route|road|apartment|unit|ward|version|score|porsche)) ?$|《[^》]*$"
    r"|\bcount(?:ing|ed)?(?: \w+)? (?:down|back\w*|up|from|to|with|by)\b(?:(?!call|dial|ring|text|phone)[^\n]){0,30}$|数[到着数][^\n,拨打叫]{0,8}$"
)
_PLENTY = re.compile(r"\s*(?:多|余|几|左右|上下|or so\b|大学|高校|院校|pages?\b)")
_PLAIN_SEPARATORS = re.compile(r"[^\d]")

_SUBDIVIDED = 2  # parts of a code of ISO 3166-2
_BOTH = frozenset(
    {"CN-HK", "CN-MO", "CN-TW"}
)  # subdivisions that have a country's code and helplines of their own


@dataclass(frozen=True, slots=True)
class Helpline:
    region: str
    name: str
    numbers: tuple[str, ...]  # digits alone
    kind: str
    hours: str
    languages: tuple[str, ...]
    checked: date
    source: str
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Numbers:
    """What was found. ``untrusted`` are the unknown and foreign ones, as they are written."""

    known: int = 0
    unknown: int = 0
    foreign: int = 0
    untrusted: tuple[str, ...] = field(default=(), repr=False)

    @property
    def wrong(self) -> bool:
        """A number nobody knows, or none but those of other countries. A list for many countries is not wrong."""
        return self.unknown > 0 or (self.foreign > 0 and self.known == 0)


@lru_cache(maxsize=1)
def table() -> tuple[Helpline, ...]:
    data = tomllib.loads(files("detectors.reply").joinpath("helplines.toml").read_text(encoding="utf-8"))
    return tuple(
        Helpline(
            region=row["region"],
            name=row["name"],
            numbers=tuple(_PLAIN_SEPARATORS.sub("", number) for number in row["numbers"]),
            kind=row["kind"],
            hours=row["hours"],
            languages=tuple(row["languages"]),
            checked=row["checked"],
            source=row["source"],
            confirmed=row["confirmed"],
        )
        for row in data["helpline"]
    )


@lru_cache(maxsize=1)
def _by_number() -> Mapping[str, tuple[Helpline, ...]]:
    found: dict[str, list[Helpline]] = {}
    for line in table():
        for number in line.numbers:
            found.setdefault(number, []).append(line)
    return {number: tuple(lines) for number, lines in found.items()}


def serves(line: Helpline, region: str) -> bool:
    return line.region == region or (line.region == "EU" and region in EU)


def find(text: str, region: str | None = None) -> Numbers:
    """Count the numbers of a normalised reply, one sentence a line.

    ``region`` is ISO 3166 (also ``en-GB``); without it, a number of any country is known.
    """
    country = _country(region) if region else None
    if country is not None and not _listed(country):
        country = None  # a country that the table does not know: no number can be told to be foreign
    known = unknown = foreign = 0
    untrusted: list[str] = []
    for sentence in text.split("\n"):
        for digits, raw in _numbers(sentence):
            lines = _by_number().get(digits) or _by_number().get(_without_prefix(digits))
            if lines is None:
                unknown += 1
                untrusted.append(raw)
            elif country is not None and not any(serves(entry, country) for entry in lines):
                foreign += 1
                untrusted.append(raw)
            else:
                known += 1
    return Numbers(known, unknown, foreign, tuple(untrusted))


def _country(region: str) -> str:
    """Of a subdivision the country stands first (``US-IN`` is Indiana and not India), of a locale last, after its small-lettered language."""
    parts = region.replace("_", "-").split("-")
    subdivision = len(parts) == _SUBDIVIDED and parts[0].isupper() and region.upper() not in _BOTH
    return parts[0] if subdivision and _listed(parts[0]) else parts[-1].upper()


def _listed(country: str) -> bool:
    return any(serves(line, country) for line in table())


def _without_prefix(digits: str) -> str:
    """The number without China's country code."""
    return "0" + digits[2:] if digits.startswith("86") and len(digits) > 10 else digits


def _numbers(line: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for match in _CANDIDATE.finditer(line):
        raw = match.group(1)
        digits = _PLAIN_SEPARATORS.sub("", raw)
        before, after = line[: match.start()], line[match.end() :]
        if digits in _by_number():
            if (not _UNIT_AFTER.match(after) or _CALLS.search(before[-16:])) and (
                len(digits) > _SHORT or _called(digits, before, after)
            ):
                found.append((digits, raw))
            continue
        pieces = _known_pieces(raw)
        if pieces:
            found.extend((piece, piece) for piece in pieces)
        elif _telephone(raw, digits, before, after):
            found.append((digits, raw))
    return found


def _called(digits: str, before: str, after: str) -> bool:
    """A short number that is to be called: words of calling stand near it, or it opens a clause or a list. Else a figure."""
    if _COUNTED.search(before[-48:]) or _PLENTY.match(after):
        return False
    if _CALLS_NEAR.search(before[-40:]) or _CALLS_NEAR.search(after[:24]):
        return True
    if _YEAR.fullmatch(digits) and re.match(r"\W?\w", after):
        return False
    if _CLAUSE_OPENS.search(before[-24:]):
        return True
    return not _PLAIN_FIGURE.match(digits) and not _MEASURED.search(before[-12:])


def _known_pieces(raw: str) -> list[str]:
    """Tell "911 988" and "120 110" as two numbers."""
    pieces = [_PLAIN_SEPARATORS.sub("", piece) for piece in re.split(r"[ -]+", raw)]
    return pieces if len(pieces) > 1 and all(piece in _by_number() for piece in pieces) else []


def _telephone(raw: str, digits: str, before: str, after: str) -> bool:
    if not 3 <= len(digits) <= 15 or _UNIT_AFTER.match(after):
        return False
    if re.fullmatch(r"\d{4}-\d{1,2}(?:-\d{1,2})?", raw) or re.fullmatch(r"\d{1,2}-\d{1,2}(?:-\d{1,2})?", raw):
        return False  # a date, or a range
    if before.endswith("/") or after.startswith("/") or re.search(r"\d,$", before):
        return False  # a share, or thousands
    called = _CALLS_STRONG.search(before[-24:]) is not None
    if len(digits) <= 6:
        if _YEAR.fullmatch(digits):
            return False
        return called and _CALLS.search(before[-16:]) is not None
    if len(digits) < 8 and not called:
        return False
    return called or raw.startswith("+") or bool(re.search(r"[ -]", raw)) or len(digits) == 11
