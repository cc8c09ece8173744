"""Manners of a reply that are shown as flags: pressure, rigid scripts, lectures, breaches of role, and the good ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.finding import Flag
from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

_BOOK = load("conduct")
_ADVICE = _BOOK.only(Flag.PREMATURE_ADVICE, Flag.ADVICE_LOAD, Flag.SMALL_STEP)


def manners(reply: ReplyText) -> dict[Flag, int]:
    """Each with its first line."""
    return {Flag(name): line for name, line in _BOOK.first(reply.said).items()}


def advising(reply: ReplyText) -> int:
    """How many sentences tell the person what to do, or offer a step."""
    return len({hit.line for hit in _ADVICE.find(reply.said)})
