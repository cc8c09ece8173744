"""``jiezhu detect`` and ``jiezhu judge``: the detectors over JSON lines, without a broker or a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from detectors.context import contextual
from detectors.finding import Level, ReplySignal, UserSignal
from detectors.ports import ReplyScorer, UserScorer
from detectors.reply.conversation import judge_conversation
from detectors.turn import Role
from monitor.jsonl import Row, problem

S = TypeVar("S", UserSignal, ReplySignal)

_LEVELS = {level.value: level for level in Level}


def detect(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[dict[str, Any]]:
    """Judge the last user turn of each row in its context. All texts are scored in one call."""
    good = [row for row in rows if row.problem is None]
    found = iter(_last_signals(good, users, replies))
    answers = []
    for row in rows:
        if row.problem is not None:
            answers.append(problem(row))
            continue
        signal = next(found)
        if signal is None:
            answers.append({"id": row.id, "error": f"line {row.line} has no user turn; give at least one"})
        else:
            answers.append({"id": row.id, **finding(signal)})
    return answers


def judge(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[dict[str, Any]]:
    """Judge the last reply of each row; its ``level`` overrides the detected one."""
    good = [row for row in rows if row.problem is None and row.level is None]
    detected = iter(_last_signals(good, users, replies))
    answers = []
    for row in rows:
        if row.problem is not None:
            answers.append(problem(row))
            continue
        if row.level is None:
            signal = next(detected)
            level = signal.level if signal is not None else Level.NONE
        elif row.level in _LEVELS:
            level = _LEVELS[row.level]
        else:
            error = f"line {row.line} has an unknown level; use one of {', '.join(_LEVELS)}"
            answers.append({"id": row.id, "error": error})
            continue
        verdict = judge_conversation(row.turns, replies, level, lang=row.lang, region=row.region)
        answers.append({"id": row.id, **verdict})
    return answers


def _last_signals(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[UserSignal | None]:
    """The last user turn of each row in its context: what the assistant said is part of it."""
    asked = iter(_score(rows, Role.USER, users.score))
    said = iter(
        _score(rows, Role.ASSISTANT, lambda texts, langs: replies.score(texts, langs, [None] * len(texts)))
    )
    judged: list[UserSignal | None] = []
    for row in rows:
        turns = [
            next(asked) if turn["role"] == Role.USER else next(said)
            for turn in row.turns
            if turn["role"] in (Role.USER, Role.ASSISTANT)
        ]
        own = contextual(turns)
        judged.append(own[-1] if own else None)
    return judged


def _score(
    rows: Sequence[Row],
    role: Role,
    score: Callable[[Sequence[str], Sequence[str | None]], Sequence[S]],
) -> Sequence[S]:
    texts = [(turn["text"], row.lang) for row in rows for turn in row.turns if turn["role"] == role]
    return score([text for text, _ in texts], [lang for _, lang in texts]) if texts else []


def finding(signal: UserSignal) -> dict[str, Any]:
    """A signal as scripts read it (DESIGN §5)."""
    return {
        "crisis": signal.level.crisis,
        "level": signal.level.value,
        "score": round(signal.score, 4),
        "distress": round(signal.distress, 4),
        "emotions": [emotion.value for emotion in signal.emotions],
        "cues": [cue.value for cue in signal.cues],
        "evidence": [
            {"kind": e.kind, "source": e.source, "window": e.window, "weight": round(e.weight, 3)}
            for e in signal.evidence
        ],
        "language": signal.language,
    }
