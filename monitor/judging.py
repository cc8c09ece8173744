"""``jiezhu detect`` and ``jiezhu judge``: the detectors over JSON lines, without a broker or a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detectors.context import contextual
from detectors.finding import Level, UserSignal
from detectors.ports import ReplyScorer, UserScorer
from detectors.reply.conversation import judge_conversation
from detectors.turn import Role
from monitor.jsonl import Row, problem

_LEVELS = {level.value: level for level in Level}


def detect(rows: Sequence[Row], scorer: UserScorer) -> list[dict[str, Any]]:
    """Judge the last user turn of each row in its context. All texts are scored in one call."""
    good = [row for row in rows if row.problem is None]
    found = iter(_last_signals(good, scorer))
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
    detected = iter(_last_signals(good, users))
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


def _last_signals(rows: Sequence[Row], scorer: UserScorer) -> list[UserSignal | None]:
    spoken = [[turn["text"] for turn in row.turns if turn["role"] == Role.USER] for row in rows]
    flat = [text for texts in spoken for text in texts]
    langs = [row.lang for row, texts in zip(rows, spoken, strict=True) for _ in texts]
    signals = iter(scorer.score(flat, langs) if flat else [])
    judged: list[UserSignal | None] = []
    for texts in spoken:
        own = [next(signals) for _ in texts]
        judged.append(contextual(own)[-1] if own else None)
    return judged


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
