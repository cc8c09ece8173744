"""Has the style drifted between two groups of replies? The decision, with its reasons. Pure.

A comparison may be asked for every minute: what alarms is held at all times together (``boundary``, ``rare``). Permutation
p-values and distances are for reading, at a single look; they need a generator and never alarm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from detectors.drift import histograms as distances
from detectors.drift import phrases
from detectors.drift.boundary import Floats
from detectors.drift.feature import FEATURES
from detectors.drift.gather import common_strata, feature_sums, histograms, samples, trace_sums
from detectors.drift.means import Differences, differences, matters
from detectors.drift.permutation import energy, holm, permuted_p
from detectors.drift.policy import Policy
from detectors.drift.rare import presence
from detectors.drift.sketch import StyleSketch
from detectors.drift.stratum import Stratum
from detectors.drift.tally import Counts
from detectors.drift.trace import WIDTH
from detectors.drift.verdict import Decision, DriftVerdict, FeatureDrift, MeaningDrift, Reason

USUAL = Policy()
_CONSTANT = 1e-4


def compare(
    one: StyleSketch, other: StyleSketch, policy: Policy = USUAL, chance: np.random.Generator | None = None
) -> DriftVerdict:
    """``one`` against ``other``: a canary against the stable release of the same hours, a release against its baseline.

    Only users in the same state and language are compared, so that other users are not taken for another style.
    Both groups must begin at a fixed time and only grow: a window that slides is a new comparison with every step, and
    alpha is for one.
    """
    strata = common_strata(one, other, policy.stratum_replies)
    used = tuple(sum(side.strata[key].replies for key in strata) for side in (one, other))
    few = _too_few(one, other, strata, min(used), policy)
    replies, conversations = (one.replies, other.replies), (one.conversations, other.conversations)
    if few is not None:
        reason, missing = few
        return DriftVerdict(
            Decision.NOT_ENOUGH, (reason,), replies, conversations, (used[0], used[1]), strata, missing
        )
    features = _features(one, other, strata, policy, chance)
    moved = phrases.moved(one, other, strata, policy)
    meaning = _meaning(one, other, strata, policy, chance)
    decision, reasons = _decided(features, meaning, phrase_moved=bool(moved))
    missing = 0
    if decision is Decision.NOT_ENOUGH:
        missing = max(0, min(one.wanted for one in _waiting(features)) - min(used))
    return DriftVerdict(
        decision,
        reasons,
        replies,
        conversations,
        (used[0], used[1]),
        strata,
        missing,
        features,
        moved,
        meaning,
    )


def _too_few(
    one: StyleSketch, other: StyleSketch, strata: Sequence[Stratum], used: int, policy: Policy
) -> tuple[Reason, int] | None:
    if min(one.replies, other.replies) < policy.replies:
        return Reason.TOO_FEW_REPLIES, policy.replies - min(one.replies, other.replies)
    if not strata:
        return Reason.NO_COMMON_STATE, policy.replies
    if used < policy.replies:
        return Reason.TOO_FEW_REPLIES, policy.replies - used
    conversations = min(one.conversations, other.conversations)
    if conversations < policy.conversations:
        return Reason.TOO_FEW_CONVERSATIONS, policy.conversations - conversations
    return None


def _decided(
    features: Sequence[FeatureDrift], meaning: MeaningDrift, *, phrase_moved: bool
) -> tuple[Decision, tuple[Reason, ...]]:
    found = {one.reason for one in features} | {meaning.reason}
    moved: list[Reason] = [one for one in (Reason.FEATURE_MOVED, Reason.MEANING_MOVED) if one in found]
    if phrase_moved:
        moved.append(Reason.PHRASE_MOVED)
    if moved:
        return Decision.DRIFTED, tuple(moved)
    if _waiting(features) and not any(_judged(one) for one in features):
        return Decision.NOT_ENOUGH, (Reason.TOO_FEW_REPLIES,)
    calm = [one for one in (Reason.TOO_SMALL_TO_MATTER, Reason.WITHIN_CHANCE) if one in found]
    return Decision.STEADY, tuple(calm[:1])


def _waiting(features: Sequence[FeatureDrift]) -> list[FeatureDrift]:
    return [one for one in features if one.reason is Reason.TOO_FEW_REPLIES]


def _judged(feature: FeatureDrift) -> bool:
    """What never varied in either group is no drift of its own, and says nothing of the others."""
    return feature.reason is not Reason.TOO_FEW_REPLIES and feature.deviation > _CONSTANT


def _features(
    one: StyleSketch,
    other: StyleSketch,
    strata: Sequence[Stratum],
    policy: Policy,
    chance: np.random.Generator | None,
) -> tuple[FeatureDrift, ...]:
    found = differences(feature_sums(one, strata), feature_sums(other, strata), policy.of_means(), policy)
    counts = (histograms(one, strata), histograms(other, strata))
    present = presence(counts[0], counts[1], found.spread) >= -np.log(
        policy.alpha * policy.for_presence / len(FEATURES)
    )
    weights = _weights(*counts)
    shapes = [_shape(each, weights) for each in counts]
    index, gap, moved = (
        measure(*shapes)
        for measure in (distances.stability_index, distances.kolmogorov_smirnov, distances.wasserstein)
    )
    p, corrected = _p_values(counts, weights, found, policy, chance)
    weighty = matters(found, policy)
    return tuple(
        FeatureDrift(
            feature=feature,
            reason=_reason(
                ready=bool(found.ready[at]),
                sure=bool(found.crossed[at] or present[at]),
                matters=bool(weighty[at]),
            ),
            first=float(found.first[at]),
            second=float(found.second[at]),
            difference=float(found.difference[at]),
            low=float(found.low[at]),
            high=float(found.high[at]),
            deviation=float(found.deviation[at]),
            effect=float(found.effect[at]),
            index=float(index[at]),
            gap=float(gap[at]),
            moved=float(moved[at]),
            p=p[at],
            p_corrected=corrected[at],
            wanted=int(found.wanted[at]),
        )
        for at, feature in enumerate(FEATURES)
    )


def _reason(*, ready: bool, sure: bool, matters: bool) -> Reason:
    if sure:
        return Reason.FEATURE_MOVED if matters else Reason.TOO_SMALL_TO_MATTER
    return Reason.WITHIN_CHANCE if ready else Reason.TOO_FEW_REPLIES


def _weights(one: Counts, other: Counts) -> Floats:
    n, m = one[:, 0].sum(axis=-1), other[:, 0].sum(axis=-1)
    shared = n * m / (n + m)
    return np.asarray(shared / shared.sum())


def _shape(counts: Counts, weights: Floats) -> Floats:
    """Shares of levels over the strata of both (F, levels)."""
    return np.asarray(np.einsum("s,sfl->fl", weights, counts / counts.sum(axis=-1, keepdims=True)))


def _p_values(
    counts: tuple[Counts, Counts],
    weights: Floats,
    found: Differences,
    policy: Policy,
    chance: np.random.Generator | None,
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    if chance is None:
        nothing = [None] * len(FEATURES)
        return nothing, nothing
    spread = np.maximum(*found.spread)
    p = np.array(
        [
            permuted_p(
                counts[0][:, at], counts[1][:, at], weights, float(spread[at]), policy.permutations, chance
            )
            for at in range(len(FEATURES))
        ]
    )
    return p.tolist(), holm(p).tolist()


def _meaning(
    one: StyleSketch,
    other: StyleSketch,
    strata: Sequence[Stratum],
    policy: Policy,
    chance: np.random.Generator | None,
) -> MeaningDrift:
    if one.model != other.model:
        return MeaningDrift(Reason.OTHER_MODEL, 0.0, None, None, (0, 0))
    found = differences(
        trace_sums(one, strata), trace_sums(other, strata), policy.alpha * policy.for_meaning / WIDTH, policy
    )
    far = np.abs(found.effect)
    sure = found.crossed & (far >= policy.smallest)
    reason = (
        Reason.MEANING_MOVED
        if sure.any()
        else _reason(ready=bool(found.ready.any()), sure=bool(found.crossed.any()), matters=False)
    )
    rows, other_rows = samples(one, strata), samples(other, strata)
    distance, p = (
        energy(rows, other_rows, policy.permutations, chance) if chance is not None else (None, None)
    )
    return MeaningDrift(
        reason,
        float(far.max()) if found.ready.any() else 0.0,
        distance,
        p,
        (sum(map(len, rows)), sum(map(len, other_rows))),
    )
