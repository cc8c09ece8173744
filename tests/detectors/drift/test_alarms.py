"""In short what ``tests/benchmarks/test_style_drift.py`` measures at length: how often alike releases alarm, how soon changed ones do."""

from __future__ import annotations

import numpy as np
import pytest

from detectors.drift.gather import common_strata, feature_sums
from detectors.drift.means import differences
from detectors.drift.policy import Policy
from tests.support.drift_runs import ALIKE, PLANTED, alike, canned, planted, sketched
from tests.support.styles import CANNED, Release, draw, sketch_of, sums_at


@pytest.mark.parametrize("pair", ALIKE)
def test_releases_of_one_style_seldom_ever_alarm(pair):
    runs = alike(*ALIKE[pair], weeks=30, sizes=(800, 2_400), looks=160)
    assert runs.ever <= 1, runs.by  # of 30


@pytest.mark.parametrize("change", PLANTED)
def test_a_planted_change_is_found_within_500_replies_and_named(change):
    feature, _ = PLANTED[change]
    found = planted(PLANTED[change], likeness=0.1, runs=40, against=5_000, step=50)
    assert found.share(feature.value) >= 0.95
    assert found.share(*(name for name in found.by if name != feature.value)) <= 0.05


def test_a_sentence_in_a_fifth_of_replies_is_found_within_500_and_named():
    found = canned(0.2, runs=5, against=1_000)
    assert found.by[f"{CANNED:010x}"] == 5
    assert found.ever == 5
    assert set(found.by) == {f"{CANNED:010x}"}


def test_whole_verdicts_of_one_style_seldom_ever_alarm():
    runs = sketched(Release(severity=0.4), Release(severity=0.25), weeks=5, sizes=(600, 1_200), looks=20)
    assert runs.ever == 0, runs.by


def test_what_these_runs_compute_is_what_sketches_hold():
    rng, policy = np.random.default_rng(4), Policy()
    drawn = [draw(Release(severity=0.5), 700, rng) for _ in range(2)]
    sketches = [sketch_of(each, rng) for each in drawn]
    strata = common_strata(*sketches, policy.stratum_replies)
    assert len(strata) == 6
    held = differences(*(feature_sums(each, strata) for each in sketches), policy.of_means(), policy)
    end = np.array([700])
    computed = differences(
        *(sums_at(each.levels / 19, each, end) for each in drawn), policy.of_means(), policy
    )
    for name in ("difference", "score", "effect", "low", "wanted"):
        assert getattr(computed, name)[0] == pytest.approx(getattr(held, name), rel=1e-6, abs=1e-9)


def test_replies_taken_for_independent_would_alarm():
    """What the likeness within conversations is counted for: without it a quiet week cries wolf."""
    release, policy, ever = Release(likeness=0.5, replies=10), Policy(), 0
    ends = np.arange(20, 1_001, 20)
    for week in range(20):
        rng = np.random.default_rng([9, week])
        one, other = draw(release, 1_000, rng), draw(release, 1_000, rng)
        sums = [sums_at(each.levels / 19, each, ends) for each in (one, other)]
        for each in sums:
            each.per_reply[:] = 0
        ever += differences(*sums, policy.of_means(), policy).crossed.any()
    assert ever >= 10
