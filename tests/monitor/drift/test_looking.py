"""What the gauges say of made-up releases: a change that was planted is shown soon, and nothing else is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from detectors.drift import packing
from detectors.drift.feature import Feature
from detectors.drift.sketch import StyleSketch
from monitor.drift.folding import Folding
from monitor.drift.looking import DEEP
from monitor.store.baselines import Baseline
from monitor.store.memory_tallies import MemoryTallies
from monitor.tally.cell import HOUR
from monitor.tally.election import LEASE
from tests.support.style_weeks import MONDAY, Weeks, stream
from tests.support.styles import Release
from tests.support.tallies import a_publisher, values

USUAL = Release()
ASKING = USUAL.changed(Feature.QUESTIONS, 2.0)
CANARY = {"against": "stable", "track": "canary", "release": "1.5"}
DAY = timedelta(days=1)


@pytest.fixture
def weeks() -> Weeks:
    return Weeks()


def alarmed(weeks: Weeks, publisher=None, **labels: str) -> set[str]:
    found = [
        sample.labels["feature"]
        for metric in (publisher or weeks.publisher).collect()
        for sample in metric.samples
        if sample.name == "jiezhu_style_drift_alarm" and labels.items() <= sample.labels.items()
        if sample.value
    ]
    return set(found)


def verdict(weeks: Weeks, publisher=None, **labels: str) -> str | None:
    found = [
        sample.labels["verdict"]
        for metric in (publisher or weeks.publisher).collect()
        for sample in metric.samples
        if sample.name == "jiezhu_style_drift_verdict" and labels.items() <= sample.labels.items()
        if sample.value
    ]
    return found[0] if len(found) == 1 else None


async def canary_hours(weeks: Weeks, canary: Release, replies: int = 300, times: int = 4, **said) -> None:
    """Five hours in which production says so many times as much."""
    await weeks.hours(
        5,
        production=("1.4", stream(said.get("production", USUAL), times * replies, 1)),
        canary=("1.5", stream(canary, replies, 2)),
    )


async def test_a_change_that_was_planted_is_shown_within_500_replies(weeks):
    await canary_hours(weeks, ASKING, replies=500, times=10)
    assert alarmed(weeks, **CANARY) == {"questions"}
    assert verdict(weeks, **CANARY) == "drifted"
    [effect] = values(weeks.publisher, "jiezhu_style_drift", feature="questions", **CANARY)
    [low] = values(weeks.publisher, "jiezhu_style_drift_low", feature="questions", **CANARY)
    [high] = values(weeks.publisher, "jiezhu_style_drift_high", feature="questions", **CANARY)
    assert 0 < low < effect < high
    assert values(weeks.publisher, "jiezhu_style_drift_sample_size", group="current", **CANARY) == [500]
    assert values(weeks.publisher, "jiezhu_style_drift_sample_size", group="reference", **CANARY) == [5000]


async def test_the_same_style_is_not(weeks):
    await canary_hours(weeks, USUAL)
    assert (alarmed(weeks), verdict(weeks, **CANARY)) == (set(), "steady")


async def test_other_users_alone_are_not(weeks):
    await canary_hours(weeks, Release(severity=0.5), production=Release(severity=0.25))
    assert (alarmed(weeks), verdict(weeks, **CANARY)) == (set(), "steady")


async def test_of_a_few_replies_nothing_is_said(weeks):
    await canary_hours(weeks, ASKING, replies=60)
    assert verdict(weeks, **CANARY) == "not_enough"
    assert values(weeks.publisher, "jiezhu_style_drift", **CANARY) == []
    assert alarmed(weeks) == set()


async def test_a_sentence_that_fills_replies_is_shown(weeks):
    await canary_hours(weeks, Release(canned=0.3))
    assert alarmed(weeks, **CANARY) == {"templates"}
    [moved] = values(weeks.publisher, "jiezhu_style_drift", feature="templates", **CANARY)
    assert moved > 0.5


async def test_meaning_is_compared_where_replies_leave_traces():
    weeks = Weeks(deep=DEEP)
    await weeks.hours(
        1,
        production=("1.4", stream(USUAL, 800, 1, traced=True)),
        canary=("1.5", stream(USUAL, 300, 2, traced=True)),
    )
    assert alarmed(weeks, **CANARY) == set()
    [effect] = values(weeks.publisher, "jiezhu_style_drift", feature="embedding", **CANARY)
    [p] = values(weeks.publisher, "jiezhu_style_drift_pvalue", feature="embedding", **CANARY)
    assert effect < 0.5
    assert 0 < p <= 1


async def test_production_counts_in_the_hours_of_the_canary_alone(weeks):
    await weeks.hours(2, production=("1.3", stream(ASKING, 400, 1)))
    await canary_hours(weeks, USUAL, replies=300)
    assert values(weeks.publisher, "jiezhu_style_drift_sample_size", group="reference", **CANARY) == [1200]
    assert alarmed(weeks, **CANARY) == set()


async def test_scripts_are_not_compared(weeks):
    await weeks.say("canary", "1.5", stream(ASKING, 200, 1), basis="probe")
    await weeks.say("production", "1.4", stream(USUAL, 200, 2))
    await weeks.look()
    assert values(weeks.publisher, "jiezhu_style_drift_verdict", **CANARY) == []


async def test_an_alarm_holds_for_the_week_and_the_next_one_begins_anew(weeks):
    await canary_hours(weeks, ASKING)
    with capture_logs() as logs:
        weeks.clock.jump(MONDAY + 6 * DAY - weeks.clock.now())
        await weeks.hours(2, canary=("1.5", stream(USUAL, 40, 3)), production=("1.4", stream(USUAL, 40, 4)))
        assert alarmed(weeks, **CANARY) == {"questions"}
        weeks.clock.jump(MONDAY + 7 * DAY - weeks.clock.now())
        await weeks.hours(2, canary=("1.5", stream(USUAL, 300, 5)), production=("1.4", stream(USUAL, 900, 6)))
    assert (alarmed(weeks, **CANARY), verdict(weeks, **CANARY)) == (set(), "steady")
    began = [one for one in logs if one["event"] == "style_comparison_began"]
    assert {one["since"] for one in began if one["against"] == "stable"} == {(MONDAY + 7 * DAY).isoformat()}


async def test_what_drifted_is_logged_once_with_its_shares(weeks):
    with capture_logs() as logs:
        await canary_hours(weeks, ASKING)
    [one] = [one for one in logs if one["event"] == "style_drifted"]
    assert (one["against"], one["release"], list(one["features"])) == ("stable", "1.5", ["questions"])
    current, reference = one["features"]["questions"]
    assert current > reference


async def test_whoever_is_elected_next_comes_to_the_same(weeks):
    """The style came back, but what has alarmed stays: the next one looks at each hour as if it had been there."""
    await weeks.hours(2, production=("1.4", stream(USUAL, 600, 1)), canary=("1.5", stream(ASKING, 200, 2)))
    await weeks.hours(2, production=("1.4", stream(USUAL, 800, 3)), canary=("1.5", stream(USUAL, 2600, 4)))
    [effect] = values(weeks.publisher, "jiezhu_style_drift", feature="questions", **CANARY)
    assert effect < 0.15, "by itself it would not be told of any more"
    assert alarmed(weeks, **CANARY) == {"questions"}
    second = weeks.a_publisher("two")
    await weeks.look(second)
    weeks.clock.jump(2 * LEASE)
    await weeks.look(second)
    assert second.elected
    assert values(weeks.publisher, "jiezhu_style_drift_alarm") == []
    assert alarmed(weeks, second, **CANARY) == {"questions"}
    for name in ("jiezhu_style_drift_sample_size", "jiezhu_style_drift_verdict"):
        assert len(values(second, name, **CANARY)) in (2, 3)
    assert values(second, "jiezhu_style_drift_sample_size", group="current", **CANARY) == [2800]


async def test_who_is_not_elected_shows_nothing_of_it(weeks):
    await canary_hours(weeks, ASKING, replies=200)
    await weeks.publisher.close()
    other = a_publisher(MemoryTallies(weeks.store), weeks.clock)
    await other.look()
    assert not [m.name for m in weeks.publisher.collect() if m.name.startswith("jiezhu_style")]


async def test_a_release_is_held_against_the_pinned_baseline_of_its_track(weeks):
    styles = stream(USUAL, 2000, 1)
    packed = Folding()(None, styles)
    until = MONDAY - DAY
    for number, track in enumerate(("production", "canary")):
        baseline = Baseline(
            f"b{number}", track, "1.0", until, until - DAY, until, {}, "", packed if number == 0 else b"?"
        )
        await weeks.store.pin_baseline(baseline)
    changed = USUAL.changed(Feature.VALIDATION, 0.5)
    await weeks.hours(5, production=("1.4", stream(changed, 500, 2)), canary=("1.5", stream(USUAL, 200, 3)))
    labels = {"against": "baseline", "track": "production", "release": "1.4"}
    assert alarmed(weeks, **labels) == {"validation"}
    assert verdict(weeks, against="baseline", track="canary") == "not_enough", "that one cannot be read"


async def test_a_release_is_held_against_its_own_first_week(weeks):
    for day in range(7):
        weeks.clock.jump(MONDAY + day * DAY - weeks.clock.now())
        await weeks.say("production", "1.4", stream(USUAL, 300, day))
        await weeks.look()
    past = {"against": "past", "track": "production", "release": "1.4"}
    assert verdict(weeks, **past) is None
    weeks.clock.jump(MONDAY + 8 * DAY - weeks.clock.now())
    await weeks.hours(5, production=("1.4", stream(ASKING, 600, 9)))
    assert alarmed(weeks, **past) == {"questions"}
    assert values(weeks.publisher, "jiezhu_style_drift_sample_size", group="reference", **past) == [2100]


async def test_p_values_come_every_tenth_minute_and_stay_meanwhile():
    weeks = Weeks(deep=DEEP)
    await weeks.say("production", "1.4", stream(USUAL, 1000, 1))
    await weeks.say("canary", "1.5", stream(ASKING, 500, 2))
    await weeks.look()
    before = values(weeks.publisher, "jiezhu_style_drift_pvalue", **CANARY)
    assert before
    [p] = values(weeks.publisher, "jiezhu_style_drift_pvalue", feature="questions", **CANARY)
    assert p < 0.05
    weeks.clock.jump(timedelta(minutes=2))
    await weeks.say("canary", "1.5", stream(USUAL, 100, 3))
    await weeks.look()
    assert values(weeks.publisher, "jiezhu_style_drift_pvalue", **CANARY) == before
    weeks.clock.jump(DEEP)
    await weeks.look()
    assert values(weeks.publisher, "jiezhu_style_drift_pvalue", **CANARY) != before


async def test_contrast_groups_are_told_apart(weeks):
    """Fitted to whom it speaks to: it asks those who say little less."""
    gentle = USUAL.changed(Feature.QUESTIONS, 0.4)
    await weeks.say("production", "1.4", stream(gentle, 600, 1), group="terse")
    await weeks.say("production", "1.4", stream(USUAL, 600, 2), group="open")
    await weeks.look()
    labels = {"track": "production", "release": "1.4"}
    [high] = values(weeks.publisher, "jiezhu_style_distance_high", feature="questions", **labels)
    assert high < 0
    assert values(weeks.publisher, "jiezhu_style_distance_sample_size", cohort="terse", **labels) == [600]
    assert values(weeks.publisher, "jiezhu_style_distance_sample_size", cohort="open", **labels) == [600]
    assert values(weeks.publisher, "jiezhu_style_drift_alarm") == []


async def test_replies_read_by_another_model_are_not_compared_with_the_rest(weeks):
    await canary_hours(weeks, USUAL, replies=200)
    await weeks.tallies.fold(1, [], await _read_otherwise(weeks))
    weeks.clock.jump(HOUR)
    await weeks.hours(1, production=("1.4", stream(USUAL, 300, 7)), canary=("1.5", stream(USUAL, 150, 8)))
    second = weeks.a_publisher("two")
    await weeks.publisher.close()
    await weeks.look(second)
    assert values(second, "jiezhu_style_drift_sample_size", group="current", **CANARY) == [150]


async def _read_otherwise(weeks: Weeks):
    """All hours so far as another model would have read them."""
    places = await weeks.tallies.sketched(MONDAY)
    found = {}
    for place, row in (await weeks.tallies.hours(places)).items():
        sketch: StyleSketch = packing.unpack(row.style)
        sketch.model = "0000"
        found[place] = type(row)(row.cell, packing.pack(sketch))
    return found
