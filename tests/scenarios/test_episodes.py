"""One incident an episode; ringing until somebody answers; the second crisis is never hidden by the first (R57)."""

from __future__ import annotations

import pytest

from tests.scenarios.timetable import Timetable


@pytest.fixture
def day() -> Timetable:
    return Timetable()


@pytest.fixture
def ringing(day) -> Timetable:
    return day.at(1).user("crisis").at(3).assistant("sleep tip").page_between(5, 5, "unhandled")


def test_rings_step_by_step_until_somebody_acknowledges(ringing):
    ringing.page_between(305, 305, "nobody_acknowledged").page_between(905, 905, "nobody_acknowledged")
    ringing.page_between(1205, 1205).at(1300).acknowledged().no_page().incidents("acknowledged")


def test_more_turns_join_without_ringing_again(ringing):
    ringing.at(20).user("crisis").at(22).assistant("sleep tip").no_page(300).incidents("paging")
    assert ringing.listed[0].crisis_turns == 2


@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_rise_in_severity_rings_at_once(ringing, acknowledged):
    if acknowledged:
        ringing.at(60).acknowledged()
    ringing.at(100).user("imminent").page_between(100, 100, "severity_rose").incidents("paging")
    ringing.at(102).assistant("good").no_page(399).page_between(400, 400, "nobody_acknowledged")


def test_a_rise_before_anybody_was_let_down_waits_for_the_reply(day):
    day.at(1).user("crisis").at(3).assistant("good").at(9).user("imminent").at(12).assistant("good").no_page()


def test_a_ticket_grows_into_a_page(day):
    day.at(1).user("crisis").at(3).assistant("half").ticket_at(5)
    day.at(60).user("crisis").at(62).assistant("chat").page_between(64, 64, "unhandled").incidents("paging")


def test_a_crisis_forty_minutes_after_one_that_was_closed_rings_anew(ringing):
    """R57."""
    ringing.at(60).resolved().at(2460).user("crisis").at(2462).assistant("sleep tip")
    ringing.page_between(2464, 2464, "unhandled").incidents("resolved", "paging")


def test_so_does_one_a_minute_after(ringing):
    ringing.at(60).resolved().at(120).user("crisis").page_between(180, 180, "no_reply")
    ringing.incidents("resolved", "paging")


def test_so_does_one_forty_minutes_after_one_that_was_caught(day):
    day.at(1).user("crisis").at(3).assistant("good").at(2400).user("crisis").at(2402).assistant("chat")
    day.page_between(2404, 2404).incidents("closed", "paging")


def test_so_does_one_long_after_somebody_acknowledged(ringing):
    ringing.at(60).acknowledged().at(2400).user("crisis").page_between(2460, 2460, "no_reply")
    ringing.incidents("acknowledged", "paging")


def test_talk_after_a_crisis_that_was_resolved_is_no_new_one(ringing):
    ringing.at(60).resolved().at(90).user("hello").at(92).assistant("chat").no_page().incidents("resolved")


def test_a_crisis_turn_that_comes_after_everything_was_resolved_is_not_lost(ringing):
    ringing.at(60).resolved().at(70).user("imminent", said=2).page_between(70, 72).incidents(
        "resolved", "paging"
    )


def test_an_assistant_that_is_down_lets_down_each_crisis(day):
    day.at(0).user("crisis").page_between(60, 60, "no_reply").at(100).resolved()
    day.at(200).user("crisis").page_between(260, 260, "no_reply").at(300).resolved()
    day.at(400).user("passive_ideation").page_between(460, 460, "no_reply")
