"""``jiezhu detect``, ``judge`` and ``score``: the detectors over JSON lines, without a broker or a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from detectors.context import contextual
from detectors.distress.marks import CONTEXT
from detectors.finding import Level, ReplySignal, UserSignal
from detectors.ports import ReplyScorer, UserScorer
from detectors.scales.answer import HumanTurn, answers
from detectors.scales.report import as_json, verdict
from detectors.scales.score import score
from detectors.turn import Role
from monitor.jsonl import Row, problem

S = TypeVar("S", UserSignal, ReplySignal)
Signals = list[UserSignal | ReplySignal | HumanTurn]

_LEVELS = {level.value: level for level in Level}


def detect(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[dict[str, Any]]:
    """Judge the last user turn of each row in its context. All texts are scored in one call."""

    def answer(row: Row, signals: Signals) -> dict[str, Any]:
        asked = [one for one in signals if isinstance(one, UserSignal)]
        return finding(asked[-1]) if asked else _without_user(row)

    return _each(rows, users, replies, answer)


def judge(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[dict[str, Any]]:
    """Judge the last reply of each row; its ``level`` overrides the detected one."""

    def answer(row: Row, signals: Signals) -> dict[str, Any]:
        if row.level is not None and row.level not in _LEVELS:
            return {"error": f"line {row.line} has an unknown level; use one of {', '.join(_LEVELS)}"}
        if row.level is not None:
            signals = _with_level(signals, _LEVELS[row.level])
        found = answers(signals)
        return verdict(found[-1]) if found else _without_user(row)

    return _each(rows, users, replies, answer)


def rate(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer, lang: str) -> list[dict[str, Any]]:
    """Score each row as a whole conversation, with reasons and suggestions in ``lang`` (zh or en)."""

    def answer(row: Row, signals: Signals) -> dict[str, Any]:
        found = answers(signals)
        if not found:
            return _without_user(row)
        missing = {one.place: tuple(name.value for name in one.handling.missing) for one in found}
        return as_json(score(found), lang, missing)

    return _each(rows, users, replies, answer)


def _without_user(row: Row) -> dict[str, Any]:
    return {"error": f"line {row.line} has no user turn; give at least one"}


def _with_level(signals: Signals, level: Level) -> Signals:
    """The last user turns are what the producer of the row says they are, whatever was said before."""
    last = max((i for i, one in enumerate(signals) if isinstance(one, UserSignal)), default=-1)
    before = max((i for i, one in enumerate(signals[:last]) if not isinstance(one, UserSignal)), default=-1)
    return [
        replace(one, level=level, evidence=tuple(e for e in one.evidence if e.kind != CONTEXT))
        if before < i <= last and isinstance(one, UserSignal)
        else one
        for i, one in enumerate(signals)
    ]


def _each(
    rows: Sequence[Row],
    users: UserScorer,
    replies: ReplyScorer,
    answer: Callable[[Row, Signals], dict[str, Any]],
) -> list[dict[str, Any]]:
    """One answer a row, in order; a bad row gets an answer of its own."""
    found = iter(_signals([row for row in rows if row.problem is None], users, replies))
    return [
        problem(row) if row.problem is not None else {"id": row.id, **answer(row, next(found))}
        for row in rows
    ]


def _signals(rows: Sequence[Row], users: UserScorer, replies: ReplyScorer) -> list[Signals]:
    """The signals of what users and assistants say in each row, users' in the context of what came before."""
    asked = iter(_score(rows, Role.USER, lambda texts, langs, _: users.score(texts, langs)))
    said = iter(_score(rows, Role.ASSISTANT, replies.score))
    found: list[Signals] = []
    for row in rows:
        spoken = [turn["role"] for turn in row.turns if turn["role"] != Role.SYSTEM]
        alone: Signals = [
            next(asked) if role == Role.USER else next(said) if role == Role.ASSISTANT else HumanTurn()
            for role in spoken
        ]
        judged = iter(contextual([one for one in alone if not isinstance(one, HumanTurn)]))
        found.append([next(judged) if isinstance(one, UserSignal) else one for one in alone])
    return found


def _score(
    rows: Sequence[Row],
    role: Role,
    score: Callable[[Sequence[str], Sequence[str | None], Sequence[str | None]], Sequence[S]],
) -> Sequence[S]:
    said = [
        (turn["text"], row.lang, row.region) for row in rows for turn in row.turns if turn["role"] == role
    ]
    if not said:
        return []
    texts, langs, regions = zip(*said, strict=True)
    return score(texts, langs, regions)


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
