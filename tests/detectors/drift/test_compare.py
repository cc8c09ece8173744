from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from detectors.drift.compare import compare
from detectors.drift.distance import Fit, distance
from detectors.drift.feature import FEATURES, Feature
from detectors.drift.policy import Policy
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style
from detectors.drift.verdict import Decision, Reason
from tests.support.styles import CANNED, USUAL, Law, Release, draw, feed, replies_of, sketch_of


@pytest.fixture(scope="module")
def stable():
    rng = np.random.default_rng(0)
    return sketch_of(draw(Release(), 5_000, rng, traced=True), rng)


def canary(release, n=500, seed=1, **how):
    rng = np.random.default_rng(seed)
    return sketch_of(draw(release, n, rng, traced=True, **how), rng)


def identical(n, level=3):
    """``n`` replies, all the same, a conversation each."""
    sketch = StyleSketch()
    for number in range(n):
        sketch.add(
            Reply(
                Stratum(State.CALM, "zh"), Style((level,) * len(FEATURES), (7,)), number, number, ("named",)
            )
        )
    return sketch


def times(sketch, power):
    return reduce(lambda held, _: held.merge(held), range(power), sketch)


@pytest.mark.parametrize("level", [3, 0, 19])
def test_eight_replies_against_fifty_thousand_raise_nothing(level):
    many = times(identical(50), 10)
    assert many.replies == 51_200
    for few in (identical(8), identical(8, level)):
        for verdict in (compare(few, many), compare(many, few)):
            assert verdict.decision is Decision.NOT_ENOUGH
            assert verdict.reasons == (Reason.TOO_FEW_REPLIES,)
            assert verdict.missing == 92
            assert verdict.replies in ((8, 51_200), (51_200, 8))
            assert verdict.features == verdict.phrases == ()


def test_features_that_never_vary_make_nothing_steady():
    """All but one are nothing in either group, and that one is too rare to be judged yet."""
    rng = np.random.default_rng(11)
    rare = Release(laws=dict.fromkeys(FEATURES, Law(0.0)) | {Feature.PRESSURE: Law(0.03)}, likeness=0.0)
    verdict = compare(sketch_of(draw(rare, 150, rng), rng), sketch_of(draw(rare, 150, rng), rng))
    assert verdict.decision is Decision.NOT_ENOUGH
    assert verdict.missing > 50


def test_nothing_at_all_is_not_enough():
    assert compare(StyleSketch(), StyleSketch()).missing == 100


def test_few_conversations_are_not_enough_however_many_replies():
    one, other = StyleSketch(), times(identical(50), 3)
    reply = Reply(Stratum(State.CALM, "zh"), Style((5,) * len(FEATURES)), 1, 1)
    for _ in range(300):
        one.add(reply, earlier=1)
    assert compare(one, other).reasons == (Reason.TOO_FEW_CONVERSATIONS,)


def test_users_who_have_no_state_in_common_are_not_compared():
    one, other = StyleSketch(), StyleSketch()
    for number in range(300):
        for sketch, state in ((one, State.CALM), (other, State.IMMINENT)):
            sketch.add(Reply(Stratum(state, "zh"), Style((5,) * len(FEATURES)), number, number))
    assert compare(one, other).reasons == (Reason.NO_COMMON_STATE,)


def test_identical_replies_are_steady_at_once():
    verdict = compare(times(identical(50), 2), times(identical(50), 10), chance=np.random.default_rng(1))
    assert verdict.decision is Decision.STEADY
    assert {one.p for one in verdict.features} == {1.0}


def test_the_same_release_is_steady_and_says_how_surely(stable):
    verdict = compare(canary(Release()), stable, chance=np.random.default_rng(2))
    assert verdict.decision is Decision.STEADY
    assert verdict.phrases == ()
    assert verdict.meaning.reason is Reason.WITHIN_CHANCE
    assert verdict.meaning.p > 0.01
    for one in verdict.features:
        assert one.low <= one.difference <= one.high
        assert one.p_corrected >= one.p
    assert sum(one.low <= 0 <= one.high for one in verdict.features) == len(FEATURES)


@pytest.mark.parametrize(
    ("feature", "factor", "sign"),
    [(Feature.ADVICE, 1.3, 1), (Feature.VALIDATION, 0.7, -1), (Feature.QUESTIONS, 2.0, 1)],
)
def test_a_planted_change_is_named_with_its_direction(stable, feature, factor, sign):
    verdict = compare(
        canary(Release().changed(feature, factor), seed=3), stable, chance=np.random.default_rng(2)
    )
    assert verdict.decision is Decision.DRIFTED
    assert [one.feature for one in verdict.drifted] == [feature]
    (found,) = verdict.drifted
    assert np.sign(found.difference) == np.sign(found.effect) == sign
    assert found.low * sign > 0 or found.high * sign > 0
    assert found.p_corrected <= 0.05
    assert found.index > 0.01
    assert verdict.used[0] <= 500
    assert set(verdict.strata) <= set(stable.strata)


def test_a_sentence_in_a_fifth_of_replies_is_named_by_its_id(stable):
    verdict = compare(canary(Release(canned=0.2)), stable)
    assert verdict.reasons == (Reason.PHRASE_MOVED,)
    (found,) = verdict.phrases
    assert (found.kind, found.name) == ("sentence", f"{CANNED:010x}")
    assert found.first == pytest.approx(0.2, abs=0.06)
    assert found.second < 0.02


def test_a_kind_of_phrase_that_vanished_is_named(stable):
    rng = np.random.default_rng(4)
    replies = replies_of(draw(Release(), 600, rng, traced=True), rng)
    without = StyleSketch()
    for number, one in enumerate(replies):
        kinds = tuple(kind for kind in one.phrases if kind != "kind_0")
        without.add(Reply(one.stratum, one.style, number, one.mark, kinds, one.trace))
    found = {one.name: one for one in compare(without, stable).phrases}
    assert found["kind_0"].first == 0
    assert found["kind_0"].second == pytest.approx(0.3, abs=0.05)
    assert set(found) == {"kind_0"}


def test_what_stable_never_had_is_seen_soon_against_however_many():
    """No normal approximation holds where one side has none."""
    none = Release(laws={**USUAL, Feature.LAYOUT: Law(0.0)})
    rng = np.random.default_rng(5)
    many = times(sketch_of(draw(none, 3_000, rng), rng), 4)
    verdict = compare(canary(Release(laws={**USUAL, Feature.LAYOUT: Law(0.3)}), 300), many)
    assert Feature.LAYOUT in [one.feature for one in verdict.drifted]


def test_a_sure_trifle_is_no_drift():
    rng = np.random.default_rng(6)
    one = times(sketch_of(draw(Release(likeness=0.0), 4_000, rng), rng), 4)
    other = times(sketch_of(draw(Release(likeness=0.0).changed(Feature.ADVICE, 1.06), 4_000, rng), rng), 4)
    verdict = compare(other, one, Policy(share=1.0))
    assert verdict.decision is Decision.STEADY
    assert verdict.reasons == (Reason.TOO_SMALL_TO_MATTER,)


def test_a_rare_feature_that_has_no_judgement_yet_says_how_many_it_wants(stable):
    verdict = compare(canary(Release()), stable)
    found = {one.feature: one for one in verdict.features}
    pressure = found[Feature.PRESSURE]
    assert pressure.reason is Reason.TOO_FEW_REPLIES
    assert pressure.wanted > 500
    assert found[Feature.LENGTH].reason is Reason.WITHIN_CHANCE


def test_a_meaning_that_moved_alarms_by_itself(stable):
    rng = np.random.default_rng(7)
    drawn = draw(Release(), 600, rng, traced=True)
    drawn.traces[:, :8] = np.clip(drawn.traces[:, :8].astype(int) + 45, -127, 127)
    verdict = compare(sketch_of(drawn, rng), stable, chance=np.random.default_rng(1))
    assert verdict.reasons == (Reason.MEANING_MOVED,)
    assert verdict.meaning.effect > 0.5
    assert verdict.meaning.p < 0.05


def test_meanings_of_two_models_are_not_compared_and_features_are(stable):
    other = canary(Release().changed(Feature.QUESTIONS, 2.0))
    other.model = "another"
    verdict = compare(other, stable)
    assert verdict.meaning.reason is Reason.OTHER_MODEL
    assert verdict.reasons == (Reason.FEATURE_MOVED,)


def test_the_same_for_everybody_is_too_little_adaptation():
    rng = np.random.default_rng(8)
    terse, outpouring = (sketch_of(draw(Release(likeness=0.0, replies=2), 1_200, rng), rng) for _ in range(2))
    found = distance(terse, outpouring)
    assert found.fit is Fit.SAME_FOR_ALL
    assert found.pressing == ()
    assert found.verdict.replies == (1_200, 1_200)


def test_a_style_that_fits_the_user_and_one_that_presses_the_terse():
    rng = np.random.default_rng(9)
    usual = Release(likeness=0.1)
    outpouring = sketch_of(draw(usual.changed(Feature.RESTATEMENT, 2.0), 800, rng), rng)
    fitted = distance(sketch_of(draw(usual, 800, rng), rng), outpouring)
    assert (fitted.fit, fitted.moved, fitted.pressing) == (Fit.FITTED, (Feature.RESTATEMENT,), ())
    pressed = distance(sketch_of(draw(usual.changed(Feature.QUESTIONS, 2.0), 800, rng), rng), outpouring)
    assert pressed.pressing == (Feature.QUESTIONS,)
    assert pressed.verdict.features[1].difference > 0


def test_a_distance_of_a_few_is_not_enough_and_of_some_undecided():
    few, some = canary(Release(), 40), canary(Release(), 200)
    assert distance(few, some).fit is Fit.NOT_ENOUGH
    assert distance(some, canary(Release(), 200, seed=9)).fit is Fit.UNDECIDED


def test_a_verdict_holds_no_words(stable):
    rng = np.random.default_rng(10)
    replies = replies_of(draw(Release(canned=0.3), 400, rng), rng)
    assert "sentences" not in repr(feed(StyleSketch(), replies).strata)
    assert "c0ffee" in repr(compare(feed(StyleSketch(), replies), stable).phrases)
