"""What the statistics are given is of the strata compared, whatever else a sketch holds."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.drift.compare import compare
from detectors.drift.feature import FEATURES
from detectors.drift.gather import common_strata, feature_sums
from detectors.drift.means import differences
from detectors.drift.policy import Policy
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style
from detectors.drift.verdict import Decision

POLICY = Policy()
HERE = Stratum(State.CALM, "zh")


def talks(levels, replies, stratum, first=0):
    """A conversation for each row of levels, with that many replies that are all alike."""
    sketch = StyleSketch()
    for number, row in enumerate(levels, first):
        said = [
            Reply(stratum, Style(tuple(int(one) for one in row)), number, place) for place in range(replies)
        ]
        for place, reply in enumerate(said):
            sketch.add(reply, said[max(0, place - 8) : place], place)
    return sketch


@pytest.fixture(scope="module")
def single():
    """Conversations of one reply, in a language of either side's own."""
    same = np.full((2_000, len(FEATURES)), 3)
    return [talks(same, 1, Stratum(State.CALM, language), 10_000) for language in ("en", "es")]


def test_short_conversations_elsewhere_make_those_compared_no_surer(single):
    chance = np.random.default_rng(1)
    sides = [talks(chance.integers(2, 9, (60, len(FEATURES))), 20, HERE) for _ in range(2)]

    def spread(one, other):
        strata = common_strata(one, other, POLICY.stratum_replies)
        sums = (feature_sums(each, strata) for each in (one, other))
        return np.array(differences(*sums, POLICY.of_means(), POLICY).spread)

    apart = spread(*sides)
    assert apart.min() > 15
    assert spread(*(each.merge(more) for each, more in zip(sides, single, strict=True))) == pytest.approx(
        apart
    )


def test_equal_releases_do_not_drift_for_short_conversations_that_only_one_side_has(single):
    for run in range(12):
        chance = np.random.default_rng([8, run])
        sides = (talks(chance.integers(2, 9, (60, len(FEATURES))), 20, HERE) for _ in range(2))
        one, other = (each.merge(more) for each, more in zip(sides, single, strict=True))
        assert compare(one, other).decision is not Decision.DRIFTED
