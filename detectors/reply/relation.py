"""What a reply is beside what was said before it: the user's own words, an earlier turn taken up, the same words again.

Told from sketches of texts (``detectors.text.gist``), so that no words need be kept (M7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from detectors.finding import EmotionNamed, Evidence, Flag, ReplySignal, UserSignal
from detectors.reply.evidence import FORMULA
from detectors.reply.phrases import load
from detectors.text.gist import likeness, share_in, taken_up, words_of

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

# by F1 on our judged replies that are not held out
ECHOES: Final = 0.45
"""Share of a reply's words that may be the user's before it is an echo (J7)."""
TAKES_UP: Final = 1
"""Uncommon words of earlier turns in a reply that points back, from which it takes them up (J11)."""
TAKES_UP_UNSAID: Final = 2
"""The same for a reply that does not say that it does."""
LEAST: Final = 0.04
"""Share of a reply's words that they must be: in a long one, some are met by chance."""
REPEATS: Final = 0.5
"""Likeness from which a reply is an earlier one over again (J7)."""
STRONG: Final = 0.6
"""Distress that a feeling named as a slight one does not answer (J4)."""

POINTS_BACK: Final = "points_back"
SLIGHT: Final = "slight"
SAID_BEFORE: Final = "said_before"
FORMULA_AGAIN: Final = "same_formula_again"
NAMED_TOO_WEAK: Final = "named_too_weak"

_BOOK = load("reference")


def pointers(reply: ReplyText) -> dict[str, int]:
    """What the reply says about earlier turns, each with its first line."""
    return _BOOK.first(reply.said)


def related(
    reply: ReplySignal,
    asked: Sequence[UserSignal],
    earlier: Sequence[UserSignal],
    said: Sequence[ReplySignal],
) -> ReplySignal:
    """Add what only the conversation can tell.

    ``asked`` are the user turns that are answered, ``earlier`` those before them, ``said`` the replies before this one.
    """
    if reply.empty:
        return reply
    marks = {one.source for one in reply.evidence}
    found: dict[Flag, str] = {}
    answered = tuple(one.gist for one in asked)
    if share_in(reply.gist, answered) >= ECHOES:
        found[Flag.ECHO] = "words_of_the_user"
    words = taken_up(reply.gist, tuple(one.gist for one in earlier), answered)
    enough = max(TAKES_UP if POINTS_BACK in marks else TAKES_UP_UNSAID, LEAST * len(words_of(reply.gist)))
    if words >= enough:
        found[Flag.BACK_REFERENCE] = "words_of_an_earlier_turn"
    if any(likeness(reply.gist, one.gist) >= REPEATS for one in said):
        found[Flag.TEMPLATE] = SAID_BEFORE
    elif all(map(_soothes, (reply, *said[-2:]))) and len(said) >= 2:
        found[Flag.TEMPLATE] = FORMULA_AGAIN
    evidence = [*reply.evidence, *(Evidence(flag.value, source) for flag, source in found.items())]
    emotion = reply.emotion_named
    distress = max((one.distress for one in asked), default=0.0)
    if emotion is EmotionNamed.TYPE_AND_STRENGTH and SLIGHT in marks and distress >= STRONG:
        emotion = EmotionNamed.TYPE_ONLY
        evidence.append(Evidence("emotion_named", NAMED_TOO_WEAK))
    return replace(
        reply,
        flags=tuple(flag for flag in Flag if flag in found or flag in reply.flags),
        evidence=tuple(evidence),
        emotion_named=emotion,
    )


def _soothes(reply: ReplySignal) -> bool:
    """A formula, and nothing that holds the person beside it."""
    return not reply.holds_feeling and any(one.kind == FORMULA for one in reply.evidence)
