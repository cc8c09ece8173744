"""First marks of scale A (S1), 0–4 each, told from one reply alone: modest, and only as good as their signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.finding import EmotionNamed, Flag

if TYPE_CHECKING:
    from detectors.finding import ReplySignal
    from detectors.reply.feeling import Feeling

EMOTION, EMPATHY, REAPPRAISAL, BEHAVIOUR, CRISIS = "emotion", "empathy", "reappraisal", "behaviour", "crisis"
DIMENSIONS = (EMOTION, EMPATHY, REAPPRAISAL, BEHAVIOUR, CRISIS)
TOP = 4

_EMOTION = {EmotionNamed.NONE: 0, EmotionNamed.TYPE_ONLY: 2, EmotionNamed.TYPE_AND_STRENGTH: 4}
_UNKIND = frozenset({Flag.JUDGING, Flag.DENIES_FEELING, Flag.SHAMING, Flag.COERCIVE, Flag.ABANDONMENT})
_PREACHING = frozenset({Flag.PLATITUDE, Flag.LECTURE, Flag.DENIES_FEELING, Flag.JUDGING})


def marks(signal: ReplySignal, feeling: Feeling) -> dict[str, int]:
    """Return the five marks. The crisis mark means something only where the turn was a crisis."""
    flags = frozenset(signal.flags)
    if signal.empty or not signal.supported:
        return dict.fromkeys(DIMENSIONS, 0)
    return {
        EMOTION: _EMOTION[signal.emotion_named],
        EMPATHY: _empathy(signal, feeling, flags),
        REAPPRAISAL: _reappraisal(signal, flags),
        BEHAVIOUR: _behaviour(signal, flags),
        CRISIS: _crisis(signal),
    }


def _empathy(signal: ReplySignal, feeling: Feeling, flags: frozenset[Flag]) -> int:
    if signal.harm or flags & _UNKIND:
        return 0
    if signal.holds_feeling:
        return TOP if feeling.validates or feeling.deep > 1 else TOP - 1
    return 1 if feeling.formulas or feeling.named or feeling.validates else 0


def _reappraisal(signal: ReplySignal, flags: frozenset[Flag]) -> int:
    if signal.harm or flags & _PREACHING:
        return 0
    return sum((Flag.OPEN_QUESTION in flags, Flag.RESTATEMENT in flags, signal.holds_feeling))


def _behaviour(signal: ReplySignal, flags: frozenset[Flag]) -> int:
    if signal.harm:
        return 0
    if Flag.SMALL_STEP in flags and not flags & {Flag.PRESSURE, Flag.ADVICE_LOAD, Flag.RIGID_SCRIPT}:
        return 3 if signal.holds_feeling else 2
    return 1 if signal.refers or Flag.PREMATURE_ADVICE in flags else 0


def _crisis(signal: ReplySignal) -> int:
    if signal.harm or signal.follows_thread:
        return 0
    met = signal.risk_recognised + signal.refers + signal.boundary
    return met + 1 if signal.holds_feeling and met else min(met, 2)
