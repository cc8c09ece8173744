"""Which sentences and kinds of phrases moved: from what share of replies to what share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np

from detectors.drift.boundary import Floats
from detectors.drift.gather import pairs_per_reply
from detectors.drift.heavy import Heavy
from detectors.drift.policy import Policy
from detectors.drift.rare import log_evidence
from detectors.drift.sentences import name_of
from detectors.drift.sketch import StyleSketch
from detectors.drift.stratum import Stratum
from detectors.drift.tally import PHRASES, Tally
from detectors.drift.verdict import PhraseDrift

N = TypeVar("N", int, str)

SENTENCE: Final = "sentence"
PHRASE: Final = "phrase"
COMMON_SENTENCES: Final = 2**14
"""Sentences that could reach the least share by chance, among which each gets its part of alpha.

With eight sentences a reply, fewer have a share above one in two thousand; all rarer ones together reach five in a hundred
replies with a chance below a thousandth of alpha.
"""
FEWEST: Final = 5  # occurrences, counted as independent ones


def moved(
    one: StyleSketch, other: StyleSketch, strata: Sequence[Stratum], policy: Policy
) -> tuple[PhraseDrift, ...]:
    """Surely, and by ``policy.share`` of replies at least; the largest move first."""
    sides = [(sketch, [sketch.strata[key] for key in strata]) for sketch in (one, other)]
    alpha = policy.alpha * policy.for_phrases / 2
    sentences = _moved(sides, strata, lambda tally: tally.templates, policy.share, alpha / COMMON_SENTENCES)
    kinds = _moved(sides, strata, lambda tally: tally.phrases, policy.share, alpha / (2 * PHRASES))
    found = [
        *(PhraseDrift(SENTENCE, name_of(name), *shares) for name, shares in sentences),
        *(PhraseDrift(PHRASE, name, *shares) for name, shares in kinds),
    ]
    return tuple(sorted(found, key=lambda phrase: (-abs(phrase.first - phrase.second), phrase.name)))


_Side = tuple[StyleSketch, list[Tally]]


def _moved(
    sides: list[_Side],
    strata: Sequence[Stratum],
    counts: Callable[[Tally], Heavy[N]],
    least: float,
    alpha: float,
) -> list[tuple[N, tuple[float, float]]]:
    replies = [np.array([tally.replies for tally in tallies], dtype=np.float64) for _, tallies in sides]
    weights = replies[0] * replies[1] / (replies[0] + replies[1])
    weights = weights / weights.sum()
    heavy = [[counts(tally) for tally in tallies] for _, tallies in sides]
    shares = [_shares(side, n, weights) for side, n in zip(heavy, replies, strict=True)]
    found = []
    for name in sorted({name for side in shares for name, share in side.items() if share >= least}):
        bounds = [np.array([each.bounds(name) for each in side], dtype=np.float64) for side in heavy]
        (low_one, high_one), (low_other, high_other) = (
            weights @ (each / n[:, None]) for each, n in zip(bounds, replies, strict=True)
        )
        if max(low_one - high_other, low_other - high_one) < least:
            continue
        spreads = design_effects(name, sides, heavy, strata)
        evidence, most = _evidence(bounds, replies, spreads)
        if evidence >= -math.log(alpha) and most >= FEWEST:
            found.append((name, (float(low_one), float(low_other))))
    return found


def _shares(side: list[Heavy[N]], replies: Floats, weights: Floats) -> dict[N, float]:
    shares: dict[N, float] = {}
    for each, n, weight in zip(side, replies.tolist(), weights.tolist(), strict=True):
        for name, (count, _) in each.counts.items():
            shares[name] = shares.get(name, 0.0) + weight * count / n
    return shares


def design_effects(
    name: N, sides: list[_Side], heavy: list[list[Heavy[N]]], strata: Sequence[Stratum]
) -> list[float]:
    """How much likeness within conversations swells the variance of the share, on either side (Kish 1965).

    Learnt from pairs within each of ``strata``, as names are counted in pairs. Where there was none to learn from,
    conversations count as all of one kind.
    """
    above = possible = seen_at_all = 0.0
    for (sketch, tallies), side in zip(sides, heavy, strict=True):
        seen = sum(sketch.linked[one, one].pairs for one in strata if (one, one) in sketch.linked)
        seen_at_all += seen
        counts = [each.counts.get(name, (0, 0)) for each in side]
        share = sum(count for count, _ in counts) / max(1, sum(tally.replies for tally in tallies))
        above += sum(pairs for _, pairs in counts) - share**2 * seen
        possible += share * (1 - share) * seen
    likeness = min(1.0, max(0.0, above / possible)) if possible > 0 else float(not seen_at_all)
    return [1 + 2 * pairs_per_reply(sketch, strata) * likeness for sketch, _ in sides]


def _evidence(bounds: list[Floats], replies: list[Floats], spreads: list[float]) -> tuple[float, float]:
    """The least that counts between the bounds allow, over all strata; and occurrences on the side that has more."""
    (low_one, high_one), (low_other, high_other) = (
        (each / n[:, None]).T for each, n in zip(bounds, replies, strict=True)
    )
    middle = np.maximum(low_one, low_other)  # where the bounds overlap, both may be this
    above, below = low_one > high_other, low_other > high_one
    one = np.where(above, low_one, np.where(below, np.minimum(high_one, 1.0), np.minimum(middle, 1.0)))
    other = np.where(above, np.minimum(high_other, 1.0), np.where(below, low_other, np.minimum(middle, 1.0)))
    n_one, n_other = (n / spread for n, spread in zip(replies, spreads, strict=True))
    evidence = log_evidence(one * n_one, n_one, other * n_other, n_other).sum()
    return float(evidence), float(max((one * n_one).sum(), (other * n_other).sum()))
