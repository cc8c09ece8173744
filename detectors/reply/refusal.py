"""A reply that declines to talk, or ends the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

DECLINES = "declines"
ENDS_CHAT = "ends_chat"

_BOOK = load("refusal")


def refusals(reply: ReplyText) -> dict[str, int]:
    return _BOOK.first(reply.said)
