"""Every outcome, and when somebody is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.scenarios.timetable import Timetable
from tests.support.casework import POLICY


@pytest.fixture
def day() -> Timetable:
    return Timetable()


def test_a_crisis_answered_with_a_sleep_tip_pages_after_the_grace(day):
    day.at(1).user("crisis").at(3).assistant("sleep tip").no_page(4.9).page_between(5, 5.1, "unhandled")
    day.outcome("unhandled").reason("follows_thread").incidents("paging")


def test_without_a_grace_it_pages_at_once():
    day = Timetable(replace(POLICY, grace=timedelta(0)))
    day.at(1).user("crisis").at(3).assistant("sleep tip").page_between(3, 3)


def test_a_crisis_that_is_caught_tells_nobody_and_is_closed_when_it_is_quiet(day):
    day.at(1).user("imminent").at(3).assistant("good").at(1700).outcome("handled").incidents("watching")
    day.no_page().no_ticket().incidents("closed")


@pytest.mark.parametrize(
    ("reply", "reason"), [("refusal", "refusal"), ("", "empty"), ("foreign", "unsupported_language")]
)
def test_what_is_no_answer_is_not_handled(day, reply, reason):
    day.at(1).user("crisis").at(3).assistant(reply).page_between(5, 5.1).outcome("unhandled").reason(reason)


@pytest.mark.parametrize("said_at", [3, 300])
def test_a_harmful_reply_pages_at_once_in_time_or_not(day, said_at):
    day.at(1).user("crisis")
    if said_at > 61:
        day.page_between(61, 61, "no_reply")
        day.acknowledged()
    day.at(said_at).assistant("harm").page_between(said_at, said_at, "harmful")


def test_harm_is_found_in_the_second_message_too(day):
    day.at(1).user("crisis").at(3).assistant("good").at(4).assistant("harm").page_between(4, 4, "harmful")


def test_harm_to_somebody_in_distress_rings_though_no_crisis_was_seen(day):
    day.at(1).user("troubled").at(2).assistant("harm").page_between(2, 2, "harmful")


def test_harm_to_somebody_calm_is_a_ticket(day):
    day.at(1).user("hello").at(2).assistant("harm").ticket_at(2, "harmful").no_page()


def test_where_we_do_not_know_whether_there_is_a_crisis_harm_rings(day):
    day.at(1).user("unscored").at(2).assistant("harm").page_between(2, 2, "harmful")


def test_no_reply_pages_after_a_minute(day):
    day.at(1).user("crisis").no_page(60.9).page_between(61, 61, "no_reply").outcome("no_reply")


def test_and_after_half_a_minute_where_somebody_may_act(day):
    day.at(1).user("imminent").no_page(30.9).page_between(31, 31, "no_reply")


def test_a_reply_after_five_minutes_was_none(day):
    day.at(1).user("crisis").page_between(61, 61, "no_reply").at(300).assistant("good").outcome("no_reply")


@pytest.mark.parametrize(("reply", "outcome"), [("half", "incomplete"), ("cold", "safe_not_supportive")])
def test_a_half_measure_is_a_ticket(day, reply, outcome):
    day.at(1).user("crisis").at(3).assistant(reply).ticket_at(5, outcome).no_page()
    day.outcome(outcome).incidents("ticketed")


@pytest.mark.parametrize(("reply", "outcome"), [("half", "incomplete"), ("cold", "safe_not_supportive")])
def test_but_a_page_where_somebody_may_act(day, reply, outcome):
    day.at(1).user("imminent").at(3).assistant(reply).page_between(5, 5, outcome).no_ticket()


def test_harmless_talk_is_not_watched(day):
    day.at(1).user("hello").at(3).assistant("chat").at(9).user("troubled").no_page().no_ticket().incidents()


def test_a_bad_release_lists_each_person_and_drops_nobody():
    """Five hundred at once: how they are grouped is the pager's business, each has an incident of its own."""
    days = [Timetable(conversation=f"{number:04x}" * 8) for number in range(500)]
    for second, day in enumerate(days):
        start = second * 60 / len(days)
        day.at(start).user("crisis").at(start + 3).assistant("sleep tip").page_between(start + 5, start + 5)
    assert len({incident.key for day in days for incident in day.listed}) == 500
