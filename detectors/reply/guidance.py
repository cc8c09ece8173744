"""How a reply leads on after holding: it steadies, asks what speaks for a judgement, lends another view (J8, S3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

_BOOK = load("guidance")


def guides(reply: ReplyText) -> dict[str, int]:
    """Each way with its first line."""
    return _BOOK.first(reply.said)
