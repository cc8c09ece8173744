from __future__ import annotations

import pytest

from detectors.distress.lexicon import cues_in, emotions_in
from detectors.distress.trend import Trend, trend_of
from detectors.finding import Cue, Emotion


@pytest.mark.parametrize(
    ("distress", "found"),
    [
        ([0.1, 0.2, 0.35, 0.5, 0.6, 0.75], Trend.RISING),
        ([0.8, 0.7, 0.55, 0.4, 0.3, 0.2], Trend.FALLING),
        ([0.3, 0.32, 0.29, 0.31, 0.3], Trend.STEADY),
        ([0.3] * 6, Trend.STEADY),
        ([0.2, 0.9, 0.2, 0.2, 0.2, 0.2], Trend.STEADY),  # one odd turn moves nothing
        ([0.1, 0.9, 0.9], Trend.UNKNOWN),
        ([], Trend.UNKNOWN),
    ],
)
def test_trend(distress, found):
    assert trend_of(distress).trend is found


def test_a_slow_build_up_is_a_finding_of_its_own():
    found = trend_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert found.build_up
    assert [e.source for e in found.evidence()] == ["slow_build_up"]
    assert found.low <= found.slope <= found.high


def test_a_rise_that_stays_mild_is_no_build_up():
    assert not trend_of([0.05, 0.1, 0.15, 0.2, 0.25, 0.3]).build_up


def test_only_the_newest_turns_count():
    assert (
        trend_of([0.9] * 40 + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]).trend
        is Trend.RISING
    )


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("我是不是真的很没用", Cue.SELF_NEGATION),
        ("am I just useless", Cue.SELF_NEGATION),
        ("怎么努力都没用", Cue.HELPLESSNESS),
        ("三个月没睡好", Cue.CHRONIC),
        ("唉", Cue.SILENCE),
        ("不知道怎么说", Cue.SILENCE),
        ("Great, just great", Cue.IRONY),
        ("我就是家里的拖累", Cue.BURDEN),
        ("刚才开玩笑的，别当真", Cue.DISCLOSURE_DENIED),
    ],
)
def test_cues(text, cue):
    assert cue in cues_in(text)


def test_several_emotions_at_once():
    assert {Emotion.ANGER, Emotion.GRIEVANCE} <= emotions_in("气死我了，凭什么又是我，太委屈了")
