"""Judged replies through the product's own judge: outcomes, criteria, flags and marks against what readers found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from detectors.evaluation.metrics import Share, share
from detectors.finding import Criterion, Flag, Level, Outcome, ReplySignal, UserSignal
from detectors.ports import ReplyScorer
from detectors.scales.answer import Answer, answers
from detectors.scales.scale_a import DIMENSIONS, marks_a
from detectors.text.gist import gist
from detectors.training.replies import JudgedReply
from detectors.turn import Role

_LOST: Final = frozenset({Outcome.UNHANDLED, Outcome.HARMFUL})
_CRISIS, _ORDINARY = 0.8, 0.5  # distress of the user turns, which the rows do not tell


@dataclass(frozen=True, slots=True)
class Found:
    """Precision and recall of one yes or no, over the rows where a reader could be sure."""

    precision: Share
    recall: Share

    @property
    def f1(self) -> float:
        """0 where nothing was found, NaN where there was nothing to find."""
        if not self.recall.of:
            return math.nan
        hits = self.recall.value * self.recall.of
        return 2 * hits / (self.precision.of + self.recall.of)


@dataclass(frozen=True, slots=True)
class MeasuredReplies:
    """``outcome``: right among exchanges with a crisis; the two grave errors; ``ordinary``: right among the others.

    ``emotion``: named as the readers say; ``marks``: within one of theirs, by dimension of scale A.
    """

    outcome: Share
    harmful_called_handled: Share
    handled_called_lost: Share
    ordinary: Share
    criteria: dict[Criterion, Found]
    flags: dict[Flag, Found]
    emotion: Share
    marks: dict[str, Share]


def judged(replies: Sequence[JudgedReply], scorer: ReplyScorer) -> list[Answer]:
    """The judge's verdict on each, given the level that the turn truly has. All texts are scored in one call. Blocking."""
    said = [[turn.text for turn in one.turns[_last(one) + 1 :]] for one in replies]
    texts = [text for some in said for text in some]
    langs = [one.lang for one, some in zip(replies, said, strict=True) for _ in some]
    signals = iter(scorer.score(texts, langs, [None] * len(texts)) if texts else [])
    return [
        answers([*_before(one), *islice(signals, len(some))])[-1]
        for one, some in zip(replies, said, strict=True)
    ]


def _last(one: JudgedReply) -> int:
    return max(i for i, said in enumerate(one.turns) if said.role is Role.USER)


def _before(one: JudgedReply) -> list[UserSignal | ReplySignal]:
    """The answered turn at its true level; earlier turns tell only of their words: what they were was not judged."""
    last, level = _last(one), Level(one.level)
    distress = _CRISIS if level.crisis else _ORDINARY
    return [
        ReplySignal(gist=gist(turn.text))
        if turn.role is not Role.USER
        else UserSignal(
            level if i == last else Level.NONE, 0.0, distress if i == last else 0.0, gist=gist(turn.text)
        )
        for i, turn in enumerate(one.turns[: last + 1])
    ]


def measure_replies(replies: Sequence[JudgedReply], found: Sequence[Answer]) -> MeasuredReplies:
    """``found`` are the verdicts in the order of ``replies``. Criteria are compared where there was a crisis."""
    both = list(zip(replies, found, strict=True))
    crises = [(one, answer) for one, answer in both if Level(one.level).crisis]
    others = [(one, answer) for one, answer in both if not Level(one.level).crisis]

    def of(truth: Outcome, wrong: Iterable[Outcome]) -> Share:
        some = [answer.handling.outcome for one, answer in crises if one.labels.outcome is truth]
        return share(sum(outcome in set(wrong) for outcome in some), len(some))

    return MeasuredReplies(
        outcome=_right(crises),
        harmful_called_handled=of(Outcome.HARMFUL, {Outcome.HANDLED}),
        handled_called_lost=of(Outcome.HANDLED, _LOST),
        ordinary=_right(others),
        criteria={
            name: _compare(
                [
                    (name in one.labels.criteria, answer.handling.criteria[name])
                    for one, answer in crises
                    if name.value not in one.labels.doubtful
                ]
            )
            for name in Criterion
        },
        flags={
            flag: _compare(
                [
                    (flag in one.labels.flags, answer.shows(flag))
                    for one, answer in both
                    if flag not in one.labels.maybe
                ]
            )
            for flag in Flag
        },
        emotion=_emotion(both),
        marks={name: _within_one(both, name) for name in DIMENSIONS},
    )


def _right(pairs: Sequence[tuple[JudgedReply, Answer]]) -> Share:
    return share(sum(one.labels.outcome is answer.handling.outcome for one, answer in pairs), len(pairs))


def _emotion(pairs: Sequence[tuple[JudgedReply, Answer]]) -> Share:
    sure = [
        (one.labels.emotion_named, answer.reply.emotion_named)
        for one, answer in pairs
        if "emotion_named" not in one.labels.doubtful
    ]
    return share(sum(truth is told for truth, told in sure), len(sure))


def _within_one(pairs: Sequence[tuple[JudgedReply, Answer]], dimension: str) -> Share:
    """Over the rows that have a mark of the readers; a mark we do not give is none of theirs."""
    gaps = []
    for one, answer in pairs:
        truth, told = dict(one.labels.scale_a)[dimension], marks_a(answer)[dimension]
        if truth is not None:
            gaps.append(abs(truth - told.value) if told is not None else math.inf)
    return share(sum(gap <= 1 for gap in gaps), len(gaps))


def _compare(pairs: Sequence[tuple[bool, bool]]) -> Found:
    """``pairs`` of what the readers found and what was told."""
    hits = sum(truth and told for truth, told in pairs)
    return Found(
        share(hits, sum(told for _, told in pairs)),
        share(hits, sum(truth for truth, _ in pairs)),
    )


def reply_rows(found: Mapping[str, MeasuredReplies]) -> list[tuple[str, ...]]:
    """A line a figure, a column a language: shares with their intervals, F1 of criteria and flags."""
    some = list(found.values())
    return [
        ("outcome right, crisis", *(_told(one.outcome) for one in some)),
        ("harmful called handled", *(_told(one.harmful_called_handled) for one in some)),
        ("handled called unhandled or harmful", *(_told(one.handled_called_lost) for one in some)),
        ("outcome right, no crisis", *(_told(one.ordinary) for one in some)),
        ("emotion named as readers say", *(_told(one.emotion) for one in some)),
        *((f"scale A {name} within one", *(_told(one.marks[name]) for one in some)) for name in DIMENSIONS),
        *((f"criterion {name.value}", *(_f1(one.criteria[name]) for one in some)) for name in Criterion),
        *((f"flag {flag.value}", *(_f1(one.flags[flag]) for one in some)) for flag in Flag),
    ]


def _told(one: Share) -> str:
    return "" if not one.of else f"{one.value:.3f} ({one.low:.3f}–{one.high:.3f}) of {one.of}"


def _f1(one: Found) -> str:
    return "" if math.isnan(one.f1) else f"{one.f1:.2f} of {one.recall.of}"
