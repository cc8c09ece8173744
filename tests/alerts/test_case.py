"""A case from turn to turn: one incident an episode, nothing lost, nothing twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.case import RETRY_WAKE, Case, advance, incident_key
from alerts.incident import Acknowledged, Purge, Resolved, State
from alerts.moment import Moment
from alerts.page import Kind
from detectors.conversation import Conversation
from detectors.finding import Level, Outcome
from detectors.fold import WINDOW
from tests.support.builders import START, assistant, at, human, user
from tests.support.casework import POLICY, Casework

QUIET = POLICY.quiet.total_seconds()


@pytest.fixture
def work() -> Casework:
    return Casework()


def said(work: Casework, *turns) -> Casework:
    """Each turn is read when it is said."""
    for turn in turns:
        work.wait(turn.at)
        work.read([turn])
    return work


def talk(start: float, count: int):
    for n in range(count):
        yield (user, assistant)[n % 2](("hello", "chat")[n % 2], start + n)


class TestEpisodes:
    def test_more_turns_join(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), user("crisis", 30), assistant("chat", 33)).wait(
            at(60)
        )
        (incident,) = work.incidents
        assert (incident.crisis_turns, len(work.rings())) == (2, 1)

    def test_every_crisis_turn_of_one_exchange_is_counted(self, work):
        said(work, user("crisis", 0), user("hello", 1), user("crisis", 2))
        assert (work.incidents[0].crisis_turns, work.incidents[0].last_crisis_at) == (2, at(2))

    def test_a_crisis_after_it_was_closed_is_a_new_one(self, work):
        said(work, user("crisis", 0), assistant("chat", 3)).wait(at(60))
        work.do(Resolved("anna"))
        said(work, user("crisis", 90), assistant("chat", 93)).wait(at(100))
        assert [incident.state for incident in work.incidents] == [State.RESOLVED, State.PAGING]
        assert [page.alert for _, page in work.rings()] == ["", ""]

    def test_a_crisis_read_after_the_small_talk_that_followed_it_has_a_verdict_of_its_own(self, work):
        """Nobody ever answered, so the talk stood in the first exchange, which has had its verdict."""
        said(work, user("crisis", 0)).wait(at(60))
        work.do(Acknowledged("anna"))
        work.wait(at(7203))
        work.read([user("hello", 7203)])
        work.read([user("crisis", 7202)])
        work.wait(at(7300))
        assert [incident.state for incident in work.incidents] == [State.ACKNOWLEDGED, State.PAGING]
        assert len(work.rings()) == 2

    def test_a_crisis_forty_minutes_after_one_that_was_handled_is_a_new_one(self, work):
        said(work, user("crisis", 0), assistant("good", 3), user("crisis", 2400), assistant("chat", 2403))
        work.wait(at(2500))
        assert [incident.state for incident in work.incidents] == [State.CLOSED, State.PAGING]

    def test_and_so_is_one_after_somebody_acknowledged(self, work):
        said(work, user("crisis", 0), assistant("chat", 3)).wait(at(60))
        work.do(Acknowledged("anna"))
        said(work, user("crisis", QUIET + 1), assistant("chat", QUIET + 4)).wait(at(QUIET + 60))
        assert [incident.state for incident in work.incidents] == [State.ACKNOWLEDGED, State.PAGING]

    def test_one_nobody_answered_goes_on(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), user("crisis", QUIET * 4)).wait(
            at(QUIET * 4 + 90)
        )
        assert len(work.incidents) == 1

    def test_an_episode_that_begins_closes_the_one_that_nobody_else_would(self, work):
        """Its timer is gone with it, and the words kept for it must go too."""
        work.caught_up = False
        work.read([user("crisis", 0), assistant("good", 3), user("crisis", QUIET + 60)])
        old, new = work.incidents
        assert (old.state, new.state) == (State.CLOSED, State.WATCHING)
        assert any(isinstance(effect, Purge) for step in work.happened for effect in step.effects)

    def test_keys_are_unique_and_made_without_chance(self):
        assert incident_key("a" * 32, 2) == f"jz-{'a' * 20}-2"
        assert incident_key("a" * 32, 2) != incident_key("b" * 32, 2)


class TestNothingIsLost:
    @pytest.mark.parametrize("again", ["crisis", "passive_ideation"])
    def test_a_crisis_after_a_resolved_one_that_the_assistant_never_answered(self, work, again):
        """The assistant is down: all of it is one exchange without a reply."""
        said(work, user("crisis", 0)).wait(at(100))
        work.do(Resolved("anna"))
        said(work, user(again, 200)).wait(at(300))
        assert [incident.outcome for incident in work.incidents] == [Outcome.NO_REPLY] * 2
        assert len(work.rings()) == 2

    def test_a_verdict_that_falls_after_its_incident_was_resolved(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), user("crisis", 30), assistant("chat", 33))
        work.do(Resolved("anna"))
        work.wait(at(60))
        assert [incident.state for incident in work.incidents] == [State.RESOLVED, State.PAGING]

    def test_a_good_verdict_after_that_opens_nothing(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), user("crisis", 30), assistant("good", 33))
        work.do(Resolved("anna"))
        work.wait(at(60))
        assert len(work.incidents) == 1

    def test_a_crisis_turn_that_is_read_after_its_incident_was_resolved(self, work):
        said(work, user("crisis", 0), assistant("chat", 30)).wait(at(60))
        work.do(Resolved("anna"))
        work.read([user("imminent", 2)])
        work.wait(at(70))
        assert [(i.level, i.state) for i in work.incidents] == [
            (Level.ACTIVE_IDEATION, State.RESOLVED),
            (Level.PLAN_INTENT, State.PAGING),
        ]

    def test_a_crisis_read_after_an_outage_longer_than_an_episode(self):
        work = Casework(start=at(7200))
        work.caught_up = False
        work.read([user("crisis", 0)])
        work.read([user("hello", 7000)])
        work.catch_up()
        work.wait(at(7300))
        assert (work.incidents[0].outcome, len(work.rings())) == (Outcome.NO_REPLY, 1)

    def test_the_backlog_of_an_outage_is_one_episode_in_any_batches(self):
        caught, missed = (
            [user("crisis", 0), assistant("good", 3)],
            [user("crisis", 600), assistant("chat", 603)],
        )
        turns = [*caught, user("hello", 60), assistant("chat", 63), *missed]
        for batches in ([turns], [turns[:3], turns[3:]], [[turn] for turn in turns]):
            work = Casework(start=at(7200))
            work.caught_up = False
            for batch in batches:
                work.read(batch)
            work.catch_up()
            work.wait(at(7300))
            assert [(i.ordinal, i.crisis_turns, i.outcome) for i in work.incidents] == [
                (1, 2, Outcome.UNHANDLED)
            ]

    def test_a_half_measure_grows_into_a_page_when_an_imminent_turn_joins_late(self, work):
        said(work, user("crisis", 0), assistant("half", 30)).wait(at(40))
        work.read([user("imminent", 2)])
        work.wait(at(50))
        assert ([kind for kind in Kind if work.told(kind)], work.incidents[0].state) == (
            [Kind.PAGE, Kind.TICKET],
            State.PAGING,
        )

    def test_a_message_of_the_same_go_that_is_read_after_the_verdict_and_spoils_it(self, work):
        said(work, user("crisis", 0), assistant("good", 3)).wait(at(5.5))
        work.read([assistant("sleep tip", 4.5)])
        work.wait(at(10))
        assert [watch.outcome for watch in work.verdicts] == [Outcome.HANDLED, Outcome.UNHANDLED]
        assert len(work.rings()) == 1


class TestNothingTwice:
    def test_what_leaves_the_window_rings_nobody_again(self, work):
        said(work, user("crisis", 0), user("crisis", 1), assistant("chat", 3)).wait(at(60))
        work.do(Resolved("anna"))
        said(work, *talk(100, 2 * WINDOW)).wait(at(900))
        assert (len(work.incidents), len(work.rings()), len(work.verdicts)) == (1, 1, 1)

    def test_help_that_has_left_the_window_was_offered_all_the_same(self, work):
        said(
            work,
            user("imminent", 0),
            assistant("good", 3),
            user("imminent", 9),
            assistant("good without help", 12),
        )
        work.wait(at(60))
        said(work, *talk(100, 2 * WINDOW)).wait(at(900))
        assert ({watch.outcome for watch in work.verdicts}, work.rings()) == ({Outcome.HANDLED}, [])

    def test_a_reply_is_told_again_only_when_it_got_worse(self, work):
        said(work, user("crisis", 0), assistant("chat", 3)).wait(at(60))
        said(work, assistant("chat", 70), assistant("harm", 80), assistant("harm", 90)).wait(at(100))
        assert [watch.outcome for watch in work.verdicts] == [Outcome.UNHANDLED, Outcome.HARMFUL]
        assert [page.alert for _, page in work.rings()] == ["", "r7"]

    def test_an_old_harmful_reply_does_not_ring_for_a_new_incident(self, work):
        said(work, user("crisis", 0), assistant("harm", 3))
        work.do(Resolved("anna"))
        said(work, user("crisis", 90), assistant("good", 93), assistant("chat", 94)).wait(at(200))
        assert [incident.outcome for incident in work.incidents] == [Outcome.HARMFUL, Outcome.HANDLED]
        assert len(work.rings()) == 1


class TestHumanAgent:
    def test_one_who_comes_after_the_ring_is_on_it(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), human(20)).wait(at(900))
        assert work.incidents[0].acknowledged_by == "human_agent"
        assert [when for when, _ in work.told(Kind.PAGE)] == [at(5)]

    def test_in_a_backlog_too(self):
        work = Casework(start=at(3000))
        work.read([user("crisis", 0), assistant("chat", 3), human(20)])
        work.wait(at(4000))
        assert (work.incidents[0].state, len(work.told(Kind.PAGE))) == (State.ACKNOWLEDGED, 1)

    def test_one_who_came_after_the_ring_takes_over_that_and_no_later_crisis(self, work):
        """Read together, the later crisis must not be taken for one that somebody is on."""
        said(work, user("crisis", 0)).wait(at(QUIET * 2))
        work.read([human(QUIET * 2), user("crisis", QUIET * 2 + 5)])
        work.wait(at(QUIET * 2 + 90))
        assert [incident.state for incident in work.incidents] == [State.ACKNOWLEDGED, State.PAGING]

    def test_one_who_was_there_before_is_not(self, work):
        said(work, user("crisis", 0), human(3), user("crisis", 60), assistant("chat", 63)).wait(at(100))
        assert work.incidents[0].state is State.PAGING

    def test_nor_one_after_whom_the_assistant_did_harm(self, work):
        work.read([user("crisis", 0), human(3), assistant("harm", 4)])
        assert work.incidents[0].state is State.PAGING


class TestWaking:
    def test_nothing_to_come_wakes_nobody(self, work):
        said(work, user("hello", 0), assistant("chat", 1))
        assert work.wake_at is None

    def test_a_pending_watch_an_escalation_and_quiet_each_wake(self, work):
        wakes = []
        for turn in (user("crisis", 0), assistant("chat", 3)):
            said(work, turn)
            wakes.append(work.wake_at)
        work.wait(at(5))
        wakes.append(work.wake_at)
        assert wakes == [at(60), at(5), at(305)]
        handled = said(Casework(), user("crisis", 0), assistant("good", 3))
        handled.wait(at(5))
        assert handled.wake_at == at(QUIET) + RETRY_WAKE

    def test_what_only_the_source_can_decide_is_not_asked_for_all_the_time(self, work):
        work.caught_up = False
        work.clock = at(5000)
        work.read([user("crisis", 0)])
        grace_over = at(5000) + POLICY.grace
        work.wait(grace_over)
        assert work.wake_at == grace_over + RETRY_WAKE

    def test_a_verdict_that_waits_keeps_an_escalation_on_time(self, work):
        said(work, user("crisis", 0), assistant("chat", 3), user("crisis", 300)).wait(at(400))
        assert [when for when, _ in work.told(Kind.PAGE)][:2] == [at(5), at(305)]

    def test_an_acknowledged_incident_rings_no_more_by_time_alone(self, work):
        said(work, user("crisis", 0), assistant("chat", 3)).wait(at(60))
        work.do(Acknowledged("anna"))
        assert work.wake_at is None
        moment = Moment(START + timedelta(days=9))
        assert advance(work.case, moment, POLICY).happened == ()


def test_a_case_with_nothing_in_it_stays_so():
    case = Case(Conversation("c"))
    assert advance(case, Moment(START), POLICY).case == replace(case)
