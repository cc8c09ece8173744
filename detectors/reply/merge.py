"""The signal of a whole reply from those of its messages: a monoid. The order of messages does not matter."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from detectors.finding import EmotionNamed, Evidence, Flag, ReplySignal
from detectors.text.gist import joined

NOTHING = ReplySignal(empty=True)
"""The empty reply: it changes nothing that it is merged with."""

_EMOTIONS = tuple(EmotionNamed)
_FLAGS = {flag: place for place, flag in enumerate(Flag)}


def merge(one: ReplySignal, other: ReplySignal) -> ReplySignal:
    """Join two messages. Good and bad add up; a refusal stands only where nothing else was said.

    An unsupported language in one message makes the whole unjudged, unless that message is empty.
    """
    if one.empty or other.empty:
        return other if one.empty else one
    return ReplySignal(
        risk_recognised=one.risk_recognised or other.risk_recognised,
        follows_thread=one.follows_thread or other.follows_thread,
        holds_feeling=one.holds_feeling or other.holds_feeling,
        refers=one.refers or other.refers,
        boundary=one.boundary or other.boundary,
        reassures=one.reassures or other.reassures,
        refusal=one.refusal and other.refusal,
        empty=False,
        supported=one.supported and other.supported,
        cut=one.cut or other.cut,
        veto=one.veto or other.veto,
        harm=tuple(sorted({*one.harm, *other.harm})),
        flags=tuple(sorted({*one.flags, *other.flags}, key=_FLAGS.__getitem__)),
        emotion_named=max(one.emotion_named, other.emotion_named, key=_EMOTIONS.index),
        numbers_known=one.numbers_known + other.numbers_known,
        numbers_unknown=one.numbers_unknown + other.numbers_unknown,
        evidence=tuple(sorted({*one.evidence, *other.evidence}, key=_evident)),
        doubtful=one.doubtful or other.doubtful,
        failed=one.failed or other.failed,
        marks={
            name: max(one.marks[name], other.marks[name])
            for name in sorted(one.marks.keys() & other.marks.keys())
        },
        gist=joined(one.gist, other.gist),
        language=_language(one.language, other.language),
    )


def merge_all(signals: Iterable[ReplySignal]) -> ReplySignal:
    """Join any number of messages; none at all is the empty reply."""
    return reduce(merge, signals, NOTHING)


def _evident(one: Evidence) -> tuple[str, str, int, float]:
    return one.kind, one.source, one.window, one.weight


def _language(one: str, other: str) -> str:
    if other in (one, "und"):
        return one
    return other if one == "und" else "mul"
