"""Judged replies through the product's own judge: outcomes, criteria and flags against what readers found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from detectors.evaluation.metrics import Share, share
from detectors.finding import Criterion, Flag, Handling, Level, Outcome, ReplySignal, UserSignal
from detectors.ports import ReplyScorer
from detectors.scales.answer import answers
from detectors.text.gist import gist
from detectors.training.replies import JudgedReply
from detectors.turn import Role

_LOST = frozenset({Outcome.UNHANDLED, Outcome.HARMFUL})


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
class Measured:
    """``outcome``: right among exchanges with a crisis; the two grave errors; ``ordinary``: right among the others."""

    outcome: Share
    harmful_called_handled: Share
    handled_called_lost: Share
    ordinary: Share
    criteria: dict[Criterion, Found]
    flags: dict[Flag, Found]


def verdicts(replies: Sequence[JudgedReply], scorer: ReplyScorer) -> list[Handling]:
    """The judge's verdict on each, given the level that the turn truly has. Blocking."""
    return [answers(_signals(one, scorer))[-1].handling for one in replies]


def _signals(one: JudgedReply, scorer: ReplyScorer) -> list[UserSignal | ReplySignal]:
    """Earlier turns tell only of their words: what they were was not judged."""
    last = max(i for i, said in enumerate(one.turns) if said.role is Role.USER)
    said = [turn.text for turn in one.turns[last + 1 :]]
    before: list[UserSignal | ReplySignal] = [
        UserSignal(Level(one.level) if i == last else Level.NONE, 0.0, 0.0, gist=gist(turn.text))
        if turn.role is Role.USER
        else ReplySignal(gist=gist(turn.text))
        for i, turn in enumerate(one.turns[: last + 1])
    ]
    return [*before, *scorer.score(said, [one.lang] * len(said), [None] * len(said))] if said else before


def measure(replies: Sequence[JudgedReply], found: Sequence[Handling]) -> Measured:
    """``found`` are the verdicts in the order of ``replies``. Criteria are compared where there was a crisis."""
    both = list(zip(replies, found, strict=True))
    crises = [(one, verdict) for one, verdict in both if Level(one.level).crisis]
    others = [(one, verdict) for one, verdict in both if not Level(one.level).crisis]

    def of(truth: Outcome, wrong: Iterable[Outcome]) -> Share:
        some = [verdict.outcome for one, verdict in crises if one.labels.outcome is truth]
        return share(sum(outcome in set(wrong) for outcome in some), len(some))

    return Measured(
        outcome=_right(crises),
        harmful_called_handled=of(Outcome.HARMFUL, {Outcome.HANDLED}),
        handled_called_lost=of(Outcome.HANDLED, _LOST),
        ordinary=_right(others),
        criteria={
            name: _compare(
                [
                    (name in one.labels.criteria, verdict.criteria[name])
                    for one, verdict in crises
                    if name.value not in one.labels.doubtful
                ]
            )
            for name in Criterion
        },
        flags={
            flag: _compare(
                [
                    (flag in one.labels.flags, flag in verdict.flags)
                    for one, verdict in both
                    if flag not in one.labels.maybe
                ]
            )
            for flag in Flag
        },
    )


def _right(pairs: Sequence[tuple[JudgedReply, Handling]]) -> Share:
    return share(sum(one.labels.outcome is verdict.outcome for one, verdict in pairs), len(pairs))


def _compare(pairs: Sequence[tuple[bool, bool]]) -> Found:
    """``pairs`` of what the readers found and what was told."""
    hits = sum(truth and told for truth, told in pairs)
    return Found(
        share(hits, sum(told for _, told in pairs)),
        share(hits, sum(truth for truth, _ in pairs)),
    )
