"""The veto (J2): words that could push somebody further. Found by what they do, not by any method's name.

A single permissive line inside a good reply counts. Kinds in ``AT_RISK_ONLY`` are harmful towards a person in
danger and a fault (a flag) towards others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from detectors.reply.phrases import load

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

AGREES = "agrees_with_hopelessness"
PERMITS = "permits"
DARES = "dares"
DANGEROUS_HELP = "dangerous_help"
BLAMES = "blames"
SECRECY = "secrecy_pact"
AGAINST_HELP = "against_help"
DEPENDENCE = "dependence"
FALSE_RESCUE = "false_rescue"
MEDICATION = "medication_order"
HOSTILE = "hostile"
CURSES = "curses"
VIOLENCE = "encourages_violence"
RESEMBLES_HARM = "resembles_harm"

AT_RISK_ONLY = frozenset({SECRECY, DEPENDENCE, AGREES, FALSE_RESCUE, RESEMBLES_HARM})

_BOOK = load("harm_pushing", "harm_severing", rhetoric=True)


def harms(reply: ReplyText) -> dict[str, int]:
    """Return the kinds of harm found anywhere in the reply, in a fixed order, each with its first line."""
    return dict(sorted(_BOOK.first(reply.whole).items()))


def vetoed(kinds: Iterable[str]) -> bool:
    """Harmful towards anybody, in danger or not."""
    return any(kind not in AT_RISK_ONLY for kind in kinds)
