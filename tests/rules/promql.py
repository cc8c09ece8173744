"""As much of PromQL's grammar as our rules use: which series an expression names, and which labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Words of the language that our rules use; anything else outside braces is the name of a series.
WORDS = frozenset(
    (
        "sum",
        "max",
        "min",
        "count",
        "rate",
        "increase",
        "abs",
        "sqrt",
        "time",
        "absent",
        "histogram_quantile",
        "last_over_time",
        "max_over_time",
        "min_over_time",
        "offset",
        "by",
        "on",
        "or",
        "and",
        "unless",
        "group_left",
    )
)
# What a near miss may leave out: the time of a counter's birth.
OPTIONAL = frozenset(
    f"jiezhu_{name}_created"
    for name in ("safety_misses", "pages", "records_lost", "scorer_failures", "tally_failures")
)
_GROUPING = re.compile(r"\b(?:by|on|group_left)\s*\(([^()]*)\)")
_SERIES = re.compile(r"(?<![\w:.])([a-zA-Z_:][\w:]*)\s*(\{[^{}]*\})?")
_MATCHER = re.compile(r"(\w+)\s*(=~|!~|!=|=)\s*(\"(?:[^\"\\]|\\.)*\")")


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    matchers: tuple[tuple[str, str, str], ...]  # label, operator, value


def series(expr: str) -> Iterator[Series]:
    """Every series that ``expr`` names, with what its braces ask for."""
    text = re.sub(r"\[[^\]]*\]|\boffset\s+\d\w*", " ", _GROUPING.sub(" ", expr))
    for found in _SERIES.finditer(text):
        if found[1] not in WORDS:
            yield Series(
                found[1], tuple((m[1], m[2], m[3].strip('"')) for m in _MATCHER.finditer(found[2] or ""))
            )


def grouped_labels(expr: str) -> set[str]:
    """Labels in ``by``, ``on`` and ``group_left``."""
    return {label for group in _GROUPING.findall(expr) for label in re.findall(r"\w+", group)}
