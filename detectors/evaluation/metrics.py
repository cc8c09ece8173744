"""Recall, false alarms, precision, F1, AUROC, calibration and pairs, each proportion with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from detectors.evaluation.rows import Judged
from detectors.finding import Level

_NEVER = float("nan")
_BINS = 10
_ROUNDS = 400  # of the bootstrap
_LADDER = {
    Level.PASSIVE_IDEATION: 1,
    Level.ACTIVE_IDEATION: 2,
    Level.SELF_HARM: 2,
    Level.PLAN_INTENT: 3,
    Level.PREPARATION: 4,
    Level.IN_PROGRESS: 5,
}
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion with its 95 % interval, ``of`` rows or pairs it stands on; NaN where there are none.

    The interval is Wilson's (1927) unless said otherwise.
    """

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True)
class Measured:
    """``recall`` over crisis rows, ``false_alarms`` over the others.

    ``auroc`` has a bootstrap interval over families. ``recall_at_5`` is recall at the threshold that gives 5 % false
    alarms in this very group. ``within_one`` is the share of crisis rows whose level is at most one step
    away (LABELS); missed rows count as wrong. ``calibration_error`` is the expected calibration error over ten bins of equal
    size (Naeini et al. 2015). ``distress_error`` is the mean absolute error on 0–1; the ``f1`` of emotions and cues are
    micro-averaged.
    """

    rows: int
    recall: Share
    false_alarms: Share
    precision: float
    f1: float
    auroc: Share
    recall_at_5: float
    exact_level: Share
    within_one: Share
    calibration_error: float
    distress_error: float
    emotions_f1: float
    cues_f1: float


def share(hits: int, of: int) -> Share:
    if of == 0:
        return Share(_NEVER, _NEVER, _NEVER, 0)
    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return Share(hits / of, float(interval.low), float(interval.high), of)


def measure(judged: Sequence[Judged]) -> Measured:
    """Rows without a known truth are left out."""
    known = [one for one in judged if one.row.crisis is not None]
    truth = np.array([bool(one.row.crisis) for one in known], dtype=np.bool_)
    found = np.array([one.signal.level.crisis for one in known], dtype=np.bool_)
    score = np.array([one.signal.score for one in known], dtype=np.float64)
    hits, alarms = int((truth & found).sum()), int((~truth & found).sum())
    levelled = [one for one in known if one.row.crisis and one.row.level is not None]
    distress = [
        abs(one.signal.distress - one.row.distress / 4) for one in known if one.row.distress is not None
    ]
    return Measured(
        rows=len(known),
        recall=share(hits, int(truth.sum())),
        false_alarms=share(alarms, int((~truth).sum())),
        precision=hits / (hits + alarms) if hits + alarms else _NEVER,
        f1=2 * hits / (hits + alarms + int(truth.sum())) if truth.any() else _NEVER,
        auroc=_auroc_with_interval(truth, score, [one.row.family for one in known]),
        recall_at_5=recall_at(truth, score, 0.05),
        exact_level=share(sum(one.row.level is one.signal.level for one in levelled), len(levelled)),
        within_one=share(sum(map(_within_one, levelled)), len(levelled)),
        calibration_error=calibration_error(truth, score),
        distress_error=float(np.mean(distress)) if distress else _NEVER,
        emotions_f1=_named_f1([(one.row.emotions, frozenset(one.signal.emotions)) for one in known]),
        cues_f1=_named_f1([(one.row.cues, frozenset(one.signal.cues)) for one in known]),
    )


def _named_f1(pairs: Sequence[tuple[AbstractSet[str] | None, AbstractSet[str]]]) -> float:
    """Micro-averaged over all names; rows whose truth is not known are left out."""
    known = [(truth, found) for truth, found in pairs if truth is not None]
    both = sum(len(truth & found) for truth, found in known)
    either = sum(len(truth) + len(found) for truth, found in known)
    return 2 * both / either if either else _NEVER


def _within_one(one: Judged) -> bool:
    """The same level or a neighbour on the ladder; danger to somebody else is on no ladder with one's own."""
    truth, found = one.row.level, one.signal.level
    if truth is found:
        return True
    if truth not in _LADDER or found not in _LADDER:
        return False
    return abs(_LADDER[truth] - _LADDER[found]) <= 1


def auroc(truth: Truths, score: Floats, weight: Counts | None = None) -> float:
    """Chance that a crisis row scores above another, ties counted half (Hanley & McNeil 1982); NaN without both kinds.

    ``weight`` is how often each row was drawn.
    """
    _, place = np.unique(score, return_inverse=True)
    return _auroc_of_places(truth, place, np.ones(len(score), dtype=np.int64) if weight is None else weight)


def _auroc_of_places(truth: Truths, place: NDArray[np.int64], weight: Counts) -> float:
    """``place`` is each row's rank among the different scores."""
    crisis = np.bincount(place, weight * truth)
    other = np.bincount(place, weight * ~truth)
    pairs = crisis.sum() * other.sum()
    if not pairs:
        return _NEVER
    below = np.cumsum(other) - other
    return float((crisis * (below + other / 2)).sum() / pairs)


def _auroc_with_interval(truth: Truths, score: Floats, families: Sequence[str]) -> Share:
    value = auroc(truth, score)
    if np.isnan(value):
        return Share(_NEVER, _NEVER, _NEVER, len(truth))
    number: dict[str, int] = {}
    group = np.array([number.setdefault(family or str(i), len(number)) for i, family in enumerate(families)])
    _, place = np.unique(score, return_inverse=True)
    drawn = [_auroc_of_places(truth, place, times[group]) for times in _draws(len(number))]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Share(value, float(low), float(high), len(truth))


def _draws(families: int) -> Iterator[Counts]:
    """How often each family is drawn in each round of the bootstrap: the same at each call."""
    source = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        yield np.bincount(source.integers(0, families, families), minlength=families)


def recall_at(truth: Truths, score: Floats, false_alarms: float) -> float:
    """Recall where at most this share of the harmless rows is flagged."""
    if truth.all() or not truth.any():
        return _NEVER
    threshold = np.quantile(score[~truth], 1 - false_alarms, method="higher")
    return float((score[truth] > threshold).mean())


def calibration_error(truth: Truths, chance: Floats) -> float:
    """Mean distance between the chance named and the share that came true."""
    if not len(truth):
        return _NEVER
    bins = np.array_split(np.argsort(chance, kind="stable"), _BINS)
    return float(sum(abs(truth[b].mean() - chance[b].mean()) * len(b) for b in bins if len(b)) / len(truth))


def pairs_right(judged: Sequence[Judged]) -> Share:
    """Minimal pairs: of each risky and harmless row of a family, both right.

    Pairs of a family share rows, so the interval is of a bootstrap over families. That has no width where all pairs are
    right, or none: there it is Wilson's, each family counting once.
    """
    families: dict[str, list[Judged]] = {}
    for one in judged:
        families.setdefault(one.row.family, []).append(one)
    counts = []
    for family in families.values():
        risky = [one.signal.level.crisis for one in family if one.row.crisis]
        safe = [one.signal.level.crisis for one in family if one.row.crisis is False]
        if risky and safe:
            counts.append((sum(risky) * (len(safe) - sum(safe)), len(risky) * len(safe)))
    right, of = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    if right in (0, of):
        once = share(len(counts) if right else 0, len(counts))
        return Share(once.value, once.low, once.high, of)
    table = np.array(counts, dtype=np.int64)
    drawn = np.array([times @ table for times in _draws(len(table))])
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return Share(right / of, float(low), float(high), of)
