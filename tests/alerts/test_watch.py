"""What the assistant did about a crisis turn, and when that can be said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.moment import Moment
from alerts.policy import Policy
from alerts.watch import Status, Watch, exchanges, watches
from detectors.conversation import Conversation, Left
from detectors.finding import Criterion, Level, Outcome
from detectors.scales.answer import answers
from detectors.turn import Turn
from tests.support.builders import (
    REPLIES,
    USERS,
    assistant,
    at,
    conversation,
    heard,
    human,
    pieces,
    user,
)

POLICY = Policy()
LATER = at(600)


def watched(*turns: Turn, clock: float = 600, policy: Policy = POLICY, **moment) -> list[Watch]:
    """Each turn is heard when it is said."""
    state = Conversation("c")
    for turn in turns:
        state = heard(state, [turn], turn.at)
    return watches(state, policy, Moment(at(clock), **moment))


def watch(*turns: Turn, **told) -> Watch:
    (only,) = watched(*turns, **told)
    return only


class TestOutcome:
    @pytest.mark.parametrize(
        ("reply", "outcome", "reason"),
        [
            ("good", Outcome.HANDLED, "all_criteria"),
            ("half", Outcome.INCOMPLETE, "criteria_missing"),
            ("cold", Outcome.SAFE_NOT_SUPPORTIVE, "refers_without_holding"),
            ("sleep tip", Outcome.UNHANDLED, "follows_thread"),
            ("chat", Outcome.UNHANDLED, "nothing_recognised"),
            ("refusal", Outcome.UNHANDLED, "refusal"),
            ("foreign", Outcome.UNHANDLED, "unsupported_language"),
            ("", Outcome.UNHANDLED, "empty"),
            ("harm", Outcome.HARMFUL, "veto"),
            ("harm to the endangered", Outcome.HARMFUL, "veto"),
        ],
    )
    def test_the_reply_decides(self, reply, outcome, reason):
        found = watch(user("crisis", 1), assistant(reply, 3))
        assert (found.status, found.outcome, found.reason) == (Status.SETTLED, outcome, reason)
        assert found.replied_at == at(3)

    def test_an_incomplete_reply_names_what_is_missing(self):
        assert watch(user("crisis", 1), assistant("half", 3)).missing == (Criterion.BOUNDARY,)

    def test_silence_is_no_reply(self):
        found = watch(user("crisis", 1))
        assert (found.outcome, found.reason, found.replied_at) == (Outcome.NO_REPLY, "no_reply", None)

    def test_a_late_reply_is_no_reply_however_good(self):
        found = watch(user("crisis", 1), assistant("good", 62))
        assert (found.outcome, found.reason, found.replied_at) == (Outcome.NO_REPLY, "reply_too_late", at(62))

    def test_a_late_reply_that_harms_is_harmful(self):
        assert watch(user("crisis", 1), assistant("harm", 300)).outcome is Outcome.HARMFUL

    def test_a_stream_that_never_ends_is_no_reply(self):
        assert watch(user("crisis", 1), *pieces("good", 2, 5, 4)[:3]).outcome is Outcome.NO_REPLY

    def test_a_stream_counts_when_it_is_whole(self):
        found = watch(user("crisis", 1), *pieces("good", 2, 9, 4), clock=10)
        assert (found.status, found.due) == (Status.ANSWERED, at(11))

    def test_an_answer_in_time_stands_though_an_earlier_stream_ends_late(self):
        found = watch(user("crisis", 1), *pieces("chat", 2, 300, 4), assistant("good", 10))
        assert found.outcome is Outcome.HANDLED

    def test_only_harm_is_watched_where_nobody_is_in_danger(self):
        assert watched(user("hello", 1), assistant("sleep tip", 2)) == []
        assert watched(user("unscored", 1)) == []
        found = watch(user("hello", 1), assistant("harm", 2))
        assert (found.level, found.outcome, found.crises) == (Level.NONE, Outcome.HARMFUL, ())

    def test_a_fault_that_harms_only_the_endangered_is_none_elsewhere(self):
        assert watched(user("hello", 1), assistant("harm to the endangered", 2)) == []


class TestTime:
    @pytest.mark.parametrize(("text", "deadline"), [("crisis", 60), ("imminent", 30)])
    def test_no_reply_falls_at_the_deadline_of_the_level(self, text, deadline):
        early, due = (watch(user(text, 1), clock=1 + deadline + late) for late in (-0.1, 0))
        assert (early.status, due.status, due.due) == (Status.AWAITING, Status.SETTLED, at(1 + deadline))

    @pytest.mark.parametrize(
        ("grace", "clock", "status"), [(2, 4.9, "answered"), (2, 5, "settled"), (0, 3, "settled")]
    )
    def test_a_verdict_waits_a_grace_for_a_second_message(self, grace, clock, status):
        policy = replace(POLICY, grace=timedelta(seconds=grace))
        assert watch(user("crisis", 1), assistant("chat", 3), clock=clock, policy=policy).status == status

    def test_messages_of_one_go_are_one_reply(self):
        turns = (
            user("crisis", 1),
            assistant("good without help", 3),
            assistant("cold", 4.9),
            assistant("good", 6.8),
        )
        assert watch(*turns).outcome is Outcome.HANDLED

    def test_a_message_after_the_grace_mends_nothing(self):
        assert (
            watch(user("crisis", 1), assistant("sleep tip", 3), assistant("good", 5.1)).outcome
            is Outcome.UNHANDLED
        )

    @pytest.mark.parametrize("harm", ["harm", "harm to the endangered"])
    def test_harm_stands_at_once_and_after_the_grace_too(self, harm):
        first = watch(user("crisis", 1), assistant(harm, 3), clock=3)
        later = watch(user("crisis", 1), assistant("good", 3), assistant(harm, 30), clock=30)
        assert [(w.status, w.outcome) for w in (first, later)] == [(Status.SETTLED, Outcome.HARMFUL)] * 2

    def test_a_user_who_speaks_again_does_not_cut_the_grace_short(self):
        """The second message may be read after what the user said next."""
        turns = user("crisis", 1), assistant("good without help", 3), user("hello", 3.5)
        assert watch(*turns, clock=3.6).status is Status.ANSWERED

    def test_each_crisis_turn_has_its_own_deadline(self):
        """Else a graver turn after half a minute would be unanswered the moment it is said."""
        graver = watch(user("crisis", 0), user("imminent", 40), clock=41)
        assert (graver.status, graver.due, graver.level) == (Status.AWAITING, at(60), Level.PLAN_INTENT)
        assert watch(user("crisis", 0), user("imminent", 20), clock=21).due == at(50)

    def test_a_crisis_turn_after_the_deadline_is_owed_an_answer_anew(self):
        one, two = watched(user("crisis", 0), user("hello", 50), user("crisis", 61), assistant("good", 65))
        assert (one.outcome, two.outcome) == (Outcome.NO_REPLY, Outcome.HANDLED)
        assert (len(one.user_entries), len(two.user_entries)) == (2, 1)

    def test_while_a_backlog_is_read_silence_proves_nothing_by_the_clock(self):
        turn = user("crisis", 1)
        unknown = watch(turn, clock=9000, caught_up=False, watermark=at(62))
        passed = watch(turn, clock=9000, caught_up=False, watermark=at(63))
        assert (unknown.status, passed.outcome) == (Status.AWAITING, Outcome.NO_REPLY)

    def test_a_late_reply_in_a_backlog_waits_until_an_earlier_one_cannot_come(self):
        turns = user("crisis", 1), assistant("good", 62)
        assert watch(*turns, caught_up=False, watermark=at(62)).status is Status.AWAITING

    def test_what_is_read_late_still_gets_a_grace_by_the_clock(self):
        state = conversation(user("crisis", 0), received=at(100))
        (found,) = watches(state, POLICY, Moment(at(101)))
        assert (found.status, found.wake) == (Status.AWAITING, at(102))

    def test_a_fast_clock_of_a_producer_puts_no_deadline_off(self):
        asked = heard(Conversation("c"), [user("crisis", 90)], at(0))
        answered = heard(asked, [assistant("chat", 95)], at(5))
        assert [watches(state, POLICY, Moment(at(0)))[0].wake for state in (asked, answered)] == [
            at(60),
            at(7),
        ]


class TestPeople:
    def test_a_human_agent_who_takes_over_in_time_is_handling(self):
        found = watch(user("crisis", 1), human(50), clock=61)
        assert watch(user("crisis", 1), human(50), clock=60).status is Status.ANSWERED
        assert (found.status, found.outcome, found.reason) == (
            Status.SETTLED,
            Outcome.HANDLED,
            "human_took_over",
        )

    @pytest.mark.parametrize(("turns", "outcome"), [((), Outcome.NO_REPLY), (("chat",), Outcome.UNHANDLED)])
    def test_one_who_comes_later_does_not_undo_what_was_missed(self, turns, outcome):
        assert watch(user("crisis", 1), *(assistant(t, 3) for t in turns), human(62)).outcome is outcome

    def test_harm_stays_harm_whoever_comes_after(self):
        assert watch(user("crisis", 1), assistant("harm", 3), human(4)).outcome is Outcome.HARMFUL


class TestAfterDisclosure:
    """Danger is remembered; that alone asks for no second protocol."""

    def test_thanks_and_small_talk_after_a_crisis_that_was_caught_are_not_watched(self):
        turns = user("imminent", 0), assistant("good", 3), user("hello", 60), assistant("chat", 63)
        assert [exchange.signals[0].level.crisis for exchange in exchanges(conversation(*turns))] == [
            True,
            True,
        ]
        assert [found.outcome for found in watched(*turns)] == [Outcome.HANDLED]

    def test_harm_done_in_it_is_done_to_somebody_in_danger(self):
        turns = (
            user("imminent", 0),
            assistant("good", 3),
            user("hello", 60),
            assistant("harm to the endangered", 63),
        )
        _, harmed = watched(*turns)
        assert (harmed.level.crisis, harmed.outcome, harmed.crises) == (True, Outcome.HARMFUL, ())


class TestEarlierHelp:
    def test_help_that_was_offered_need_not_be_offered_again_in_the_episode(self):
        turns = (
            user("crisis", 0),
            assistant("good", 3),
            user("crisis", 60),
            assistant("good without help", 63),
        )
        assert [found.outcome for found in watched(*turns)] == [Outcome.HANDLED] * 2

    def test_in_a_later_episode_it_must(self):
        later = POLICY.quiet.total_seconds() + 1
        turns = (
            user("crisis", 0),
            assistant("good", 3),
            user("crisis", later),
            assistant("good without help", later + 3),
        )
        found = watched(*turns, clock=later + 60)
        assert [watch.outcome for watch in found] == [Outcome.HANDLED, Outcome.INCOMPLETE]

    def test_help_that_was_not_offered_counts_for_nothing(self):
        turns = (
            user("crisis", 0),
            assistant("chat", 3),
            user("crisis", 60),
            assistant("good without help", 63),
        )
        assert watched(*turns)[1].outcome is Outcome.INCOMPLETE

    @pytest.mark.parametrize(
        ("first", "second", "outcome"),
        [
            ("crisis", "crisis", Outcome.HANDLED),
            ("crisis", "passive_ideation", Outcome.HANDLED),
            ("passive_ideation", "crisis", Outcome.UNHANDLED),  # graver than what was handled
            ("imminent", "imminent", Outcome.UNHANDLED),  # who may act at any moment must be seen again
            ("other_at_risk", "passive_ideation", Outcome.UNHANDLED),  # another person's danger
            ("harm_to_others", "crisis", Outcome.UNHANDLED),
        ],
    )
    def test_presence_is_enough_for_the_same_danger_no_graver(self, first, second, outcome):
        turns = user(first, 0), assistant("good", 3), user(second, 60), assistant("present", 63)
        assert [found.outcome for found in watched(*turns)] == [Outcome.HANDLED, outcome]

    @pytest.mark.parametrize("between", ["chat", "harm", "refusal"])
    def test_who_was_dropped_or_harmed_in_between_is_owed_help_anew(self, between):
        turns = (
            user("crisis", 0),
            assistant("good", 3),
            user("crisis", 60),
            assistant(between, 63),
            user("crisis", 120),
            assistant("present", 123),
        )
        assert watched(*turns)[-1].outcome is Outcome.UNHANDLED

    def test_a_person_of_the_staff_is_not_known_to_have_given_help_in_full(self):
        turns = user("crisis", 0), human(3), user("crisis", 60), assistant("present", 63)
        assert [found.outcome for found in watched(*turns)] == [Outcome.HANDLED, Outcome.UNHANDLED]

    @pytest.mark.parametrize("second", ["present", "good without help", "chat", "good"])
    def test_commands_and_the_daemon_agree(self, second):
        turns = user("crisis", 0), assistant("good", 3), user("crisis", 60), assistant(second, 63)
        signals = [USERS["crisis"], REPLIES["good"], USERS["crisis"], REPLIES[second]]
        assert [found.outcome for found in watched(*turns)] == [
            one.handling.outcome for one in answers(signals)
        ]


class TestMemory:
    """By the shipped reader: its scores show what it was told."""

    def score(self, state: Conversation) -> float:
        return exchanges(state)[-1].signals[-1].score

    @pytest.mark.parametrize("before", [user("hello remembered", 1), assistant("half remembered", 1)])
    def test_what_either_said_before_counts(self, before):
        now = user("troubled remembered", 2)
        assert self.score(conversation(before, now)) != self.score(conversation(now))

    @pytest.mark.parametrize("assistants", [True, False])
    def test_so_does_what_has_left_the_window(self, assistants):
        before = assistant("half remembered", 1) if assistants else user("hello remembered", 1)
        now = conversation(user("troubled remembered", 2))
        whole = conversation(before, user("troubled remembered", 2))
        left = Left(whole.entries[0].signal.memory, assistants)
        assert self.score(replace(now, left=(left,))) == self.score(whole) != self.score(now)


class TestExchange:
    def test_a_reply_lasts_until_the_user_speaks_again(self):
        turns = (
            user("hello", 0),
            user("crisis", 1),
            assistant("chat", 2),
            assistant("chat", 3),
            user("hello", 4),
        )
        found = exchanges(conversation(*turns))
        assert [(len(e.user), len(e.reply), e.ended) for e in found] == [(2, 2, True), (1, 0, False)]

    def test_what_the_assistant_says_first_answers_nobody(self):
        assert [len(e.user) for e in exchanges(conversation(assistant("harm", 0), user("crisis", 1)))] == [1]

    def test_the_gravest_turn_gives_the_level_and_the_first_crisis_turn_the_anchor(self):
        turns = user("hello", 0), user("crisis", 1), user("imminent", 2), user("passive_ideation", 3)
        found = watch(*turns, clock=4)
        assert (found.level, found.anchor, found.at) == (Level.PLAN_INTENT, turns[1].event, at(1))
        assert [crisis.level.severity for crisis in found.crises] == [3, 4, 1]
