"""Sides out of the hours that a worker added up, styles among them; and what is said where there are none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from detectors.drift.style import Style as Read
from monitor.drift.folding import Folding
from monitor.errors import JiezhuError
from monitor.publisher import Publishing
from monitor.releases.reading import (
    baseline_of,
    newest_release,
    read_side,
    side_of_baseline,
    span_of,
)
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.work import Work
from monitor.tally.cell import HOUR, Style, Tally, Where, hour_of
from monitor.tally.styles import row_of
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.tallies import a_publisher

SPAN = span_of(EPOCH - 5 * HOUR, EPOCH + HOUR)


def _style(number: int, conversation: int) -> Style:
    levels = tuple(np.random.default_rng(number).integers(0, 20, 17).tolist())
    return Style(
        "none", "none", 0.1, "en", Read(levels, (number,)).pack(), "", conversation=conversation, mark=number
    )


def _tally(
    release: str, replies: int = 0, hours_ago: int = 0, track: str = "production", basis: str = "live"
) -> Tally:
    """Of replies by fours in a conversation, half of them to users who are terse."""
    tally = Tally(hour_of(EPOCH) - hours_ago * HOUR)
    tally.at(Where(track, release, "en", "none", basis)).counts["turn:assistant"] = replies
    for number in range(replies):
        style = _style(number + 1, 1 + number // 4)
        tally.styles.append((row_of(track, release, basis), replace(style, earlier=number % 4)))
        if number % 2:
            tally.styles.append((row_of(track, release, basis, "terse"), replace(style, mark=number + 10**6)))
    return tally


async def _added_up(*tallies: Tally) -> MemoryTallies:
    store = MemoryStore()
    found = MemoryTallies(store)
    for tally in tallies:
        await store.commit(Work(tally=tally))
    await a_publisher(found, FakeClock(), publishing=Publishing(fold_style=Folding())).look()
    return found


async def test_what_was_folded_by_the_hour_is_one_side():
    tallies = await _added_up(_tally("7.2", 60), _tally("7.2", 40, hours_ago=2), _tally("7.3", 8))
    side = await read_side(tallies, "7.2", None, SPAN)
    sketch = side.sketches["live"]
    assert (side.replies, sketch.replies, sketch.conversations, len(side.heard)) == (100, 100, 25, 2)
    narrow = await read_side(tallies, "7.2", None, span_of(EPOCH - HOUR, EPOCH + HOUR))
    assert (narrow.replies, narrow.sketches["live"].replies) == (60, 60)


async def test_a_baseline_is_what_its_side_was():
    side = await read_side(await _added_up(_tally("7.2", 120)), "7.2", None, SPAN)
    again = side_of_baseline(baseline_of("spring", side, {"jiezhu": "1"}, EPOCH))
    assert (again.replies, again.models, again.cells) == (120, {"jiezhu": "1"}, side.cells)
    assert again.sketches["live"].replies == 120
    assert again.title == "baseline spring (7.2, production, pinned 2026-03-01)"


async def test_one_turn_by_hand_amid_scripts_keeps_nothing_from_being_pinned():
    scripted = _tally("7.2", 120, track="staging", basis="probe")
    tallies = await _added_up(scripted, _tally("7.2", 1, hours_ago=1, track="staging"))
    pinned = baseline_of("spring", await read_side(tallies, "7.2", None, SPAN), {}, EPOCH)
    [(basis, sketch)] = side_of_baseline(pinned).sketches.items()
    assert (pinned.basis, basis, sketch.replies) == ("probe", "probe", 120)


async def test_people_are_pinned_where_there_are_enough_of_their_replies_however_many_scripts_there_are():
    tallies = await _added_up(_tally("7.2", 200, hours_ago=1, basis="probe"), _tally("7.2", 100))
    pinned = baseline_of("spring", await read_side(tallies, "7.2", None, SPAN), {}, EPOCH)
    [(basis, sketch)] = side_of_baseline(pinned).sketches.items()
    assert (pinned.basis, basis, sketch.replies) == ("live", "live", 100)


@pytest.mark.parametrize(("live", "basis"), [(0, "probe"), (1, "live")])
async def test_one_that_was_pinned_before_that_was_written_down_has_the_basis_it_had(live, basis):
    tallies = await _added_up(_tally("7.2", 120, basis="probe"), _tally("7.2", live, hours_ago=1))
    pinned = baseline_of("spring", await read_side(tallies, "7.2", None, SPAN), {}, EPOCH)
    assert list(side_of_baseline(replace(pinned, basis=None)).sketches) == [basis]


async def test_a_baseline_of_another_reading_says_so():
    side = await read_side(await _added_up(_tally("7.2", 120)), "7.2", None, SPAN)
    pinned = baseline_of("spring", side, {}, EPOCH)
    for damage in (replace(pinned, sketch=b"js\x09?"), replace(pinned, figures="{}")):
        with pytest.raises(JiezhuError, match=r"^baseline 'spring': .* pin one anew$"):
            side_of_baseline(damage)


async def test_too_few_replies_or_conversations_are_not_pinned():
    side = await read_side(await _added_up(_tally("7.2", 76)), "7.2", None, SPAN)
    with pytest.raises(JiezhuError, match=r"too few replies of '7\.2' to pin: 76 of 100; wait for 24 more"):
        baseline_of("spring", side, {}, EPOCH)
    tally = _tally("7.2", 120)
    for place, (where, style) in enumerate(tally.styles):
        tally.styles[place] = (where, replace(style, earlier=style.mark))
    side = await read_side(await _added_up(tally), "7.2", None, SPAN)
    with pytest.raises(JiezhuError, match=r"too few conversations of '7\.2' to pin"):
        baseline_of("spring", side, {}, EPOCH)


async def test_what_a_track_runs_now_is_what_it_told_of_last():
    tallies = await _added_up(
        _tally("7.3", 4), _tally("7.2", 4, hours_ago=1), _tally("7.4", 4, track="canary")
    )
    assert await newest_release(tallies, "production", SPAN) == "7.3"
    with pytest.raises(JiezhuError, match="no figures of track 'staging'"):
        await newest_release(tallies, "staging", SPAN)
    two = await _added_up(_tally("7.3", 4), _tally("7.2", 4))
    with pytest.raises(JiezhuError, match=r"several releases run on production \('7\.2', '7\.3'\): name one"):
        await newest_release(two, "production", SPAN)


async def test_an_error_names_some_releases_and_counts_the_rest():
    tallies = await _added_up(*(_tally(f"7.{number}", 1) for number in range(20)))
    with pytest.raises(JiezhuError) as caught:
        await read_side(tallies, "9\n\x1b[31m" + "x" * 500, None, SPAN)
    told = str(caught.value)
    assert told.endswith("and 8 more")
    assert "\n" not in told
    assert "\x1b" not in told
    assert len(told) < 600


def test_a_span_is_whole_hours():
    found = span_of(EPOCH + timedelta(minutes=20), EPOCH + timedelta(minutes=61))
    assert found.hours == [EPOCH, EPOCH + HOUR]
    assert span_of(EPOCH, EPOCH + HOUR).hours == [EPOCH]
