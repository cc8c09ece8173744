"""Criterion 3: the reply holds the feeling. It names what the person feels and how much, and lets it stand.

A form of words that fits everybody ("I understand how you feel") holds nobody; nor does a feeling in a screening question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from detectors.finding import EmotionNamed
from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

NAMES_DEEPLY = "names_deeply"
NAMES = "names"
VALIDATES = "validates"
WELCOMES = "welcomes"
ADDRESSES = "addresses"
ALARM = "alarm"
FORMULA = "formula"

_BOOK = load("feeling")
_LONG = 40  # characters; a longer question tells something, too


@dataclass(frozen=True, slots=True)
class Feeling:
    """What the reply does with the person's feeling, counted in sentences."""

    deep: int = 0
    addressed: int = 0
    named: int = 0
    validates: int = 0
    formulas: int = 0
    line: int = 0  # the first that holds, else the first of a formula

    @property
    def holds(self) -> bool:
        """Named in its strength, or named and validated, outside of formulas."""
        return self.deep > 0 or self.addressed > 0 or (self.named > 0 and self.validates > 0)

    @property
    def emotion(self) -> EmotionNamed:
        if self.deep:
            return EmotionNamed.TYPE_AND_STRENGTH
        return EmotionNamed.TYPE_ONLY if self.named or self.formulas else EmotionNamed.NONE


def feelings(reply: ReplyText) -> Feeling:
    kinds = (NAMES_DEEPLY, ADDRESSES, NAMES, VALIDATES, FORMULA, ALARM)
    lines: dict[str, set[int]] = {kind: set() for kind in kinds}
    # "I am worried about you" is the reply's own alarm: it names no feeling of theirs, and spoils none beside it.
    told = "\n".join(map(_told, reply.said.split("\n")))
    for hit in _BOOK.find(_BOOK.without(ALARM, told)):
        lines[hit.kind].add(hit.line)
    spoiled = lines[FORMULA]
    deep, addressed, named = (lines[kind] - spoiled for kind in (NAMES_DEEPLY, ADDRESSES, NAMES))
    return Feeling(
        deep=len(deep),
        addressed=len(addressed),
        named=len(named),
        validates=len(lines[VALIDATES]),
        formulas=len(lines[FORMULA]),
        line=min(deep | addressed | named or lines[FORMULA], default=0),
    )


def _told(line: str) -> str:
    """A sentence without its question: that asks for a feeling rather than naming it."""
    if not line.endswith("?") or len(line) >= _LONG:
        return line
    return line.rpartition(",")[0]
