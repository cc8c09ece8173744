"""Manners of a reply that are shown as flags: pressure, rigid scripts, lectures, breaches of role, and the good ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.finding import Flag
from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

_BOOK = load("conduct")


def manners(reply: ReplyText) -> frozenset[Flag]:
    return frozenset(Flag(name) for name in _BOOK.names(reply.said))
