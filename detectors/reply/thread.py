"""Criterion 2, told by its breach: the reply follows the dangerous thread as if it were an errand or good news."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from detectors.reply import harm
from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

SERVES_THE_PLAN = "serves_the_plan"
FOLLOWING_HARMS = frozenset(
    {harm.AGREES, harm.PERMITS, harm.DARES, harm.DANGEROUS_HELP, harm.VIOLENCE, harm.HOSTILE, harm.CURSES}
)

_BOOK = load("thread")


def follows(reply: ReplyText, harms: Collection[str]) -> bool:
    return bool(FOLLOWING_HARMS.intersection(harms)) or bool(_BOOK.first(reply.said))
