"""Which comparisons are under way, and since when: fixed by the hours that are kept, whoever asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from monitor.drift.plan import AT_ONCE, COHORTS_AT_ONCE, Against, planned, week_of
from monitor.store.baselines import Baseline
from monitor.tally.cell import HOUR
from monitor.tally.hours import Place
from monitor.tally.styles import row_of
from tests.support.style_weeks import MONDAY

DAY = timedelta(days=1)
KEEP = 35 * DAY
NOW = MONDAY + 3 * DAY + timedelta(minutes=20)


def rows(
    track: str, release: str, *hours_before: int, group: str = "all", basis: str = "live"
) -> list[Place]:
    where = row_of(track, release, basis, group)
    return [Place(MONDAY + 3 * DAY - ago * HOUR, where) for ago in hours_before]


def a_baseline(name: str = "b", release: str = "1.0", until=MONDAY - 9 * DAY) -> Baseline:
    return Baseline(name, "production", release, until, until - DAY, until, {}, "", b"")


def plan(held, heard, pinned=(), now=NOW):
    return {(one.name.against, one.name.release): one for one in planned(now, held, heard, pinned, KEEP)}


def test_a_week_begins_on_monday():
    assert week_of(NOW) == week_of(MONDAY) == MONDAY
    assert week_of(MONDAY - timedelta(seconds=1)) == MONDAY - 7 * DAY


def test_a_canary_is_held_against_all_production_of_its_own_hours():
    held = [
        *rows("canary", "1.5", 0, 2, 200),
        *rows("production", "1.4", 0, 1, 2),
        *rows("production", "1.3", 2, 3),
        *rows("production", "1.4", 0, group="terse"),
        *rows("production", "1.4", 0, basis="probe"),
    ]
    one = plan(held, {("canary", "1.5"): 9, ("production", "1.4"): 90})[Against.STABLE, "1.5"]
    assert [place.hour for place in one.current] == [MONDAY + 3 * DAY - 2 * HOUR, MONDAY + 3 * DAY]
    assert sorted(one.reference) == sorted([*rows("production", "1.4", 0, 2), *rows("production", "1.3", 2)])
    assert one.name.since == MONDAY + 3 * DAY - 2 * HOUR


def test_people_are_not_held_against_what_scripts_were_told():
    held = rows("production", "1.4", 0)
    scripts = replace(a_baseline("scripts", until=MONDAY), basis="probe")
    assert (Against.BASELINE, "1.4") not in plan(held, {("production", "1.4"): 1}, [scripts])
    one = plan(held, {("production", "1.4"): 1}, [scripts, a_baseline()])[Against.BASELINE, "1.4"]
    assert one.name.to == "b"


def test_the_newest_baseline_of_a_track_counts_and_not_for_what_it_was_pinned_of():
    held = rows("production", "1.4", 0, 1, 9)
    newest = a_baseline("new", until=MONDAY)
    one = plan(held, {("production", "1.4"): 1}, [newest, a_baseline()])[Against.BASELINE, "1.4"]
    assert (one.pinned, one.name.to, len(one.current)) == (newest, "new", 3)
    own = a_baseline(release="1.4", until=MONDAY + 3 * DAY - HOUR)
    one = plan(held, {("production", "1.4"): 1}, [own])[Against.BASELINE, "1.4"]
    assert one.current == tuple(sorted(rows("production", "1.4", 0, 1)))
    assert plan(held, {("staging", "1.4"): 1}, [own]) == {}


def test_a_release_has_a_past_once_a_week_of_it_is_over():
    young = rows("production", "1.4", 0, 24, 160)
    assert plan(young, {("production", "1.4"): 1}) == {}
    held = [*young, *rows("production", "1.4", 200, 190, 300)]
    one = plan(held, {("production", "1.4"): 1})[Against.PAST, "1.4"]
    assert {place.hour for place in one.reference} == {
        MONDAY + 3 * DAY - ago * HOUR for ago in (300, 200, 190, 160)
    }
    assert {place.hour for place in one.current} == {MONDAY + 3 * DAY - ago * HOUR for ago in (24, 0)}


def test_the_past_of_an_old_release_stays_the_same_week_while_hours_go_by_age():
    held = rows("production", "1.4", *range(0, 24 * 40, 7))
    heard = {("production", "1.4"): 1}
    found = []
    for day in (0, 3, 6):
        now = MONDAY + day * DAY + 9 * HOUR
        kept = [place for place in held if now - KEEP <= place.hour <= now]
        found.append(plan(kept, heard, now=now)[Against.PAST, "1.4"])
    assert len({one.reference for one in found}) == 1
    assert len({one.name for one in found}) == 1


def test_what_is_least_told_and_least_heard_of_falls_out():
    held, heard = [], {}
    for number in range(4):
        held += rows("canary", f"c{number}", 0)
        heard["canary", f"c{number}"] = number
    for number in range(4):
        held += rows("production", f"p{number}", 0)
        for group in ("terse", "open"):
            held += rows("production", f"p{number}", 0, group=group)
        heard["production", f"p{number}"] = 10 + number
    found = planned(NOW, held, heard, [a_baseline()], KEEP)
    drifts = [(one.name.against, one.name.release) for one in found if one.name.against != Against.COHORTS]
    assert drifts == [
        *((Against.STABLE, f"c{number}") for number in (3, 2, 1, 0)),
        *((Against.BASELINE, f"p{number}") for number in (3, 2)),
    ]
    assert len(drifts) == AT_ONCE
    cohorts = [one.name.release for one in found if one.name.against is Against.COHORTS]
    assert cohorts == ["p3", "p2", "p1"][:COHORTS_AT_ONCE]
