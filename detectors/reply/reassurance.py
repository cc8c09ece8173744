"""Comfort that holds nobody: "your family needs you" (safe, unsupportive) and plain platitudes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

LOVED_ONES = "loved_ones"
PLATITUDE = "platitude"

_BOOK = load("reassurance")


def reassurances(reply: ReplyText) -> dict[str, int]:
    return _BOOK.first(reply.said)
