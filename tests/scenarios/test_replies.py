"""What counts as the reply, and what comes too late for it."""

from __future__ import annotations

import pytest

from tests.scenarios.timetable import Timetable


@pytest.fixture
def day() -> Timetable:
    return Timetable()


def test_a_second_message_within_the_grace_may_mend_the_first(day):
    day.at(1).user("crisis").at(3).assistant("chat").at(4.5).assistant("good").no_page().outcome("handled")


def test_one_after_the_grace_does_not(day):
    day.at(1).user("crisis").at(3).assistant("chat").page_between(5, 5).at(6).assistant("good").outcome(
        "unhandled"
    )


def test_the_user_who_speaks_again_ends_the_reply(day):
    day.at(1).user("crisis").at(3).assistant("chat").at(3.5).user("hello").at(4).assistant("good")
    day.page_between(5, 5.5, "unhandled")


def test_the_user_who_goes_on_before_any_reply_is_answered_once(day):
    day.at(1).user("crisis").at(5).user("hello").at(9).user("crisis").at(12).assistant("good").no_page()
    day.outcome("handled")


def test_a_streamed_reply_is_judged_once_when_it_is_whole(day):
    """R35."""
    day.at(1).user("crisis").at(3).stream("sleep tip", until=9, count=9).no_page(10.9).page_between(11, 11)
    day.outcome("unhandled")


def test_a_good_reply_in_forty_pieces_is_good(day):
    day.at(1).user("crisis").at(3).stream("good", until=20, count=40).no_page().outcome("handled")


def test_a_stream_that_never_ends_is_no_reply(day):
    """R35."""
    day.at(1).user("crisis").at(3).stream("good", until=9, ends=False).page_between(61, 61, "no_reply")


def test_a_note_of_the_system_is_no_reply(day):
    day.at(1).user("crisis").at(3).system().page_between(61, 61, "no_reply")


def test_a_human_agent_who_takes_over_is_handling(day):
    day.at(1).user("imminent").at(20).human_agent().no_page().outcome("handled").reason("human_took_over")


def test_one_who_comes_after_the_page_acknowledges_it(day):
    day.at(1).user("crisis").at(3).assistant("chat").page_between(5, 5).at(60).human_agent().no_page()
    day.incidents("acknowledged")


def test_swapped_turns_find_their_place(day):
    day.at(1).assistant("good", said=0.9).at(1.2).user("crisis", said=0.5).no_page().outcome("handled")


def test_a_late_user_turn_gets_the_reply_that_was_read_before_it(day):
    day.at(3).assistant("sleep tip").at(4).user("crisis", said=1).page_between(5, 5, "unhandled")


class TestBacklog:
    def test_what_was_said_in_an_outage_is_judged_by_the_times_it_was_said(self, day):
        day.outage().at(7200).user("crisis", said=0).assistant("good", said=59).assistant("chat", said=70)
        day.caught_up().at(7300).outcome("handled").no_page()

    def test_silence_proves_nothing_until_the_source_has_been_read_so_far(self, day):
        day.outage().at(7200).user("crisis", said=0).no_page(7260)
        day.user("hello", said=61).no_page(7290).user("hello", said=62.5).page_between(7290, 7290, "no_reply")

    def test_nor_does_it_go_quiet_before(self, day):
        day.outage().at(7200).user("crisis", said=0).no_page(7260).incidents("watching").caught_up()
        day.page_between(7260, 7260, "no_reply")

    def test_a_reply_in_the_backlog_saves_nobody_a_page_that_is_due(self, day):
        day.outage().at(7200).user("crisis", said=0).assistant("good", said=200).caught_up()
        day.page_between(7200, 7203, "no_reply")
