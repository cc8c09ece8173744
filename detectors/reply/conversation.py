"""The last reply of a conversation, judged: what ``jiezhu judge`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from detectors.finding import Flag, Handling, Level, Outcome, ReplySignal
from detectors.reply import outcome, scale
from detectors.reply.echo import echo
from detectors.reply.merge import NOTHING
from detectors.turn import Role

if TYPE_CHECKING:
    from detectors.ports import ReplyScorer

NO_REPLY = "no_reply"


def judge_conversation(
    turns: Sequence[Mapping[str, str]],
    scorer: ReplyScorer,
    level: Level,
    *,
    lang: str | None = None,
    region: str | None = None,
    earlier_help: bool = False,
) -> dict[str, Any]:
    """Judge what the assistant said after the last user turn.

    ``turns`` are ``{"role", "text"}``, oldest first; ``level`` is that of the last user turn. The assistant's messages are
    joined and judged once. Returns ``level, outcome, criteria, veto, emotion_named, scale_a, flags``, names as in
    LABELS; the caller adds its ``id``. A crisis turn that nothing follows is ``no_reply``. Blocking, as the scorer is.
    """
    asked, said = last_exchange(turns)
    signal = scorer.score(["\n".join(said)], [lang], [region])[0] if said else NOTHING
    if said and not signal.empty and echo(asked, "\n".join(said)):
        signal = with_flag(signal, Flag.ECHO)
    handling = outcome.judge(signal, level, earlier_help=earlier_help)
    if not said and level.crisis:
        handling = replace(handling, outcome=Outcome.NO_REPLY, reason=NO_REPLY)
    return describe(signal, handling, level)


def last_exchange(turns: Sequence[Mapping[str, str]]) -> tuple[str, list[str]]:
    """Return the last user text and the assistant's messages after it."""
    asked = max((place for place, turn in enumerate(turns) if turn["role"] == Role.USER), default=-1)
    said = [turn["text"] for turn in turns[asked + 1 :] if turn["role"] == Role.ASSISTANT]
    return (turns[asked]["text"] if asked >= 0 else ""), said


def with_flag(signal: ReplySignal, flag: Flag) -> ReplySignal:
    """Add a flag that only the conversation can tell, such as an echo."""
    return replace(signal, flags=tuple(each for each in Flag if each is flag or each in signal.flags))


def describe(signal: ReplySignal, handling: Handling, level: Level) -> dict[str, Any]:
    """The verdict in plain values, ready for JSON."""
    marks: dict[str, int | None] = dict(signal.scale_a) or dict.fromkeys(scale.DIMENSIONS, 0)
    if not level.crisis:
        marks[scale.CRISIS] = None
    return {
        "level": level.value,
        "outcome": handling.outcome.value,
        "criteria": {criterion.value: met for criterion, met in handling.criteria.items()},
        "veto": handling.outcome is Outcome.HARMFUL,
        "emotion_named": signal.emotion_named.value,
        "scale_a": marks,
        "flags": [flag.value for flag in handling.flags],
    }
