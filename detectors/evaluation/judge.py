"""Rows through the product's own path: every turn scored, the last one judged in its context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from detectors.context import contextual
from detectors.crisis.reader import Reader
from detectors.evaluation.rows import Judged, Row
from detectors.finding import ReplySignal, UserSignal
from detectors.ports import ReplyScorer, UserScorer
from detectors.turn import Role

_PART = 256  # texts at once
Progress = Callable[[int, int], None]


def judge(
    rows: Sequence[Row],
    users: UserScorer,
    replies: ReplyScorer | None,
    reader: Reader | None = None,
    progress: Progress = lambda *_: None,
) -> list[Judged]:
    """Each text is scored once, however often it occurs. Without ``replies`` the assistant's turns tell nothing."""
    heard, answered = score_texts(rows, users, replies, progress)
    return [Judged(row, judged_turns(row, heard, answered, reader)[-1]) for row in rows]


def score_texts(
    rows: Sequence[Row],
    users: UserScorer,
    replies: ReplyScorer | None,
    progress: Progress = lambda *_: None,
) -> tuple[dict[tuple[str, str], UserSignal], dict[tuple[str, str], ReplySignal]]:
    """The signals of all texts by text and language."""
    asked = list(dict.fromkeys((s.text, row.lang) for row in rows for s in row.turns if s.role is Role.USER))
    said = list(
        dict.fromkeys((s.text, row.lang) for row in rows for s in row.turns if s.role is not Role.USER)
    )
    total = len(asked) + (len(said) if replies else 0)
    heard: dict[tuple[str, str], UserSignal] = {}
    for start in range(0, len(asked), _PART):
        part = asked[start : start + _PART]
        heard.update(zip(part, users.score([t for t, _ in part], [lang for _, lang in part]), strict=True))
        progress(start + len(part), total)
    answered: dict[tuple[str, str], ReplySignal] = {}
    for start in range(0, len(said) if replies else 0, _PART):
        part = said[start : start + _PART]
        assert replies is not None
        found = replies.score([t for t, _ in part], [lang for _, lang in part], [None] * len(part))
        answered.update(zip(part, found, strict=True))
        progress(len(asked) + start + len(part), total)
    return heard, answered


def judged_turns(
    row: Row,
    heard: dict[tuple[str, str], UserSignal],
    answered: dict[tuple[str, str], ReplySignal],
    reader: Reader | None = None,
) -> list[UserSignal]:
    """The signals of all user turns of a conversation, in context."""
    turns: list[UserSignal | ReplySignal] = []
    for said in row.turns:
        key = (said.text, row.lang)
        if said.role is Role.USER:
            turns.append(heard[key])
        elif key in answered:
            turns.append(answered[key])
    return contextual(turns, reader)
