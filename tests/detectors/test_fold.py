from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from detectors.context import contextual
from detectors.conversation import Conversation, Entry
from detectors.crisis.memory import REACH
from detectors.finding import DEGRADED, Evidence, Level, ReplySignal, UserSignal
from detectors.fold import HELD_WINDOW, PIECE_LIFE, SEEN, WINDOW, fold, scored, trim
from detectors.notes import Notes, Own
from detectors.pieces import joined_text
from detectors.turn import Role
from tests.support.builders import (
    REPLIES,
    START,
    USERS,
    assistant,
    at,
    conversation,
    heard,
    pieces,
    turn,
    user,
)

EMPTY = Conversation("c")
SECOND = timedelta(seconds=1)


def texts(*turns, into: Conversation = EMPTY) -> list[str]:
    return [item.text for item in fold(into, turns, START).unscored]


def order(*turns) -> list[str]:
    return [entry.event for entry in fold(EMPTY, turns, START).conversation.entries]


class TestRepeats:
    def test_the_same_event_three_times_is_one_turn(self):
        turn = user("crisis", 1)
        folded = fold(EMPTY, [turn, turn], START)
        again = fold(folded.conversation, [turn], START)
        assert (len(again.conversation.entries), folded.repeats, again.repeats) == (1, 1, 1)
        assert again.unscored == ()

    @pytest.mark.parametrize("number", [1, None])
    def test_the_same_turn_under_a_new_event_id_is_one_turn(self, number):
        turn = user("crisis", 1, turn=number)
        folded = fold(EMPTY, [turn, replace(turn, event="other")], START)
        assert (order(turn, replace(turn, event="other")), folded.repeats) == ([turn.event], 1)

    def test_sent_again_with_a_new_time_it_keeps_the_earliest_whatever_comes_first(self):
        first, again = user("crisis", 1, turn=1), user("crisis", 31, turn=1)
        for turns in ((first, again), (again, first)):
            (entry,) = fold(EMPTY, turns, START).conversation.entries
            assert entry.at == entry.done_at == at(1)

    def test_the_same_words_at_the_same_number_a_day_later_are_no_repeat(self):
        day = timedelta(days=1).total_seconds()
        assert texts(user("crisis", 0, turn=1), user("crisis", day, turn=1)) == ["crisis", "crisis"]

    def test_the_same_words_at_another_place_are_no_repeat(self):
        assert len(order(user("crisis", 1), user("crisis", 2))) == 2

    def test_turns_without_a_digest_are_told_apart_by_event_alone(self):
        assert len(order(user("a", 1, digest=""), user("b", 1, digest=""))) == 2

    def test_an_event_still_in_the_window_is_known_though_many_came_since(self):
        first = user("crisis", 1, digest="")
        flood = pieces("x" * (SEEN + 50), 2, 3, SEEN + 50)
        assert fold(conversation(first, *flood), [first, flood[0]], START).repeats == 2

    def test_a_piece_with_the_words_of_a_whole_turn_does_not_hide_it(self):
        piece = assistant("good", 2, message="m", final=False)
        whole = assistant("good", 2)
        for batches in ([[piece, whole]], [[piece], [whole]]):
            folded = EMPTY
            for batch in batches:
                folded = fold(folded, batch, START).conversation
            assert len(folded.entries) == 2

    def test_events_are_remembered_within_bounds(self):
        many = [user(f"u{n}", n) for n in range(SEEN + 10)]
        assert len(fold(EMPTY, many, START).conversation.seen) == SEEN


class TestOrder:
    def test_late_and_swapped_turns_find_their_place(self):
        one, two, three = user("crisis", 1), assistant("good", 2), user("hello", 3)
        assert order(three, one, two) == [one.event, two.event, three.event]

    def test_at_the_same_moment_the_user_speaks_first(self):
        reply, question = assistant("good", 1), user("crisis", 1)
        assert order(reply, question) == [question.event, reply.event]

    def test_numbers_win_over_the_clocks_of_two_speakers(self):
        question, reply = user("crisis", 100, turn=1), assistant("good", 5, turn=2)
        assert order(reply, question) == [question.event, reply.event]

    def test_clocks_win_where_speakers_disagree_by_more_than_any_clock_is_wrong(self):
        question, reply = user("crisis", 130, turn=1), assistant("good", 5, turn=2)
        assert order(question, reply) == [reply.event, question.event]

    def test_one_turn_without_a_number_leaves_it_to_the_clocks(self):
        one, two = user("crisis", 3, turn=1), assistant("good", 2)
        assert order(one, two) == [two.event, one.event]

    @pytest.mark.parametrize("pause", [20, 3600])
    def test_a_producer_that_counts_anew_is_ordered_by_time(self, pause):
        before = [user("hello", 0, turn=1), assistant("chat", 3, turn=2)]
        after = [user("crisis", pause, turn=1), assistant("sleep tip", pause + 3, turn=2)]
        assert order(*after, *before) == [turn.event for turn in (*before, *after)]

    def test_what_is_said_breaks_a_tie_before_the_event_id(self):
        one, two = user("a", 1, event="z", digest="1"), user("b", 1, event="y", digest="2")
        assert order(one, two) == order(two, one) == ["z", "y"]


class TestStreams:
    def test_forty_pieces_are_judged_once_on_the_joined_text(self):
        text = "a reply long enough to come in many bits"
        stream = pieces(text, 1, 4, 40)
        state, judged = EMPTY, []
        for piece in stream:
            folded = fold(state, [piece], START)
            state, judged = folded.conversation, judged + [item.text for item in folded.unscored]
        assert judged == texts(*stream) == [text]
        (entry,) = state.entries
        assert (entry.at, entry.done_at, entry.whole) == (at(1), at(4), True)

    def test_swapped_pieces_join_in_order_the_final_one_last(self):
        one, two, three, last = pieces("abcd", 1, 4, 4)
        assert texts(last, three, one, two) == ["abcd"]

    def test_a_final_piece_from_a_slow_clock_stays_the_last(self):
        one, last = pieces("ab", 2, 1, 2)
        assert texts(one, last) == ["ab"]

    def test_a_late_piece_has_the_message_judged_anew(self):
        first, middle, last = pieces("abc", 1, 3, 3)
        state = fold(EMPTY, [first, last], START).conversation
        assert texts(middle, into=state) == ["abc"]

    def test_a_reply_that_never_ends_is_not_judged(self):
        folded = fold(EMPTY, pieces("abc", 1, 3, 3)[:2], START)
        assert folded.unscored == ()
        assert not folded.conversation.entries[0].speaks

    def test_a_cry_for_help_that_breaks_off_is_judged(self):
        started = pieces("crisis and more", 1, 3, 2, role=Role.USER)[0]
        folded = fold(EMPTY, [started], START)
        assert [item.role for item in folded.unscored] == [Role.USER]
        assert folded.conversation.entries[0].speaks

    def test_numbers_of_pieces_count_from_nought(self):
        one, two = (replace(p, turn=n) for n, p in enumerate(pieces("ab", 1, 1, 2)))
        for turns in ((one, two), (two, one)):
            (entry,) = fold(EMPTY, turns, START).conversation.entries
            assert (entry.turn, joined_text(entry.pieces)) == (0, "ab")

    def test_what_only_one_piece_tells_is_kept_whichever_comes_first(self):
        one, last = pieces("ab", 1, 2, 2)
        told = replace(last, lang="zh", region="CN", latency_ms=800.0, probe={"script": "s"})
        for turns in ((one, told), (told, one)):
            (entry,) = fold(EMPTY, turns, START).conversation.entries
            assert (entry.lang, entry.region, entry.latency_ms, entry.probe) == ("zh", "CN", 800.0, True)

    def test_a_piece_that_comes_after_the_words_are_gone_leaves_the_verdict_alone(self):
        *stream, late = pieces("good", 1, 2, 4)
        stream[-1] = replace(stream[-1], final=True)
        kept = trim(conversation(*stream), frozenset(), START + PIECE_LIFE + SECOND)
        assert kept.entries[0].pieces == ()
        folded = fold(kept, [replace(late, final=False)], at(200))
        assert folded.unscored == ()
        assert folded.conversation.entries[0].reply_signal == kept.entries[0].reply_signal is not None

    @pytest.mark.parametrize("ended", [True, False])
    def test_words_go_when_no_piece_is_expected_any_more(self, ended):
        stream = pieces("abc", 1, 2, 3)[: 3 if ended else 2]
        waiting = trim(conversation(*stream), frozenset(), START + PIECE_LIFE)
        gone = trim(waiting, frozenset(), START + PIECE_LIFE + SECOND)
        assert waiting.entries[0].pieces
        assert gone.entries[0].pieces == ()

    def test_words_go_by_our_clock_however_far_apart_the_speakers_clocks_are(self):
        day = timedelta(days=1).total_seconds()
        stream = pieces("abc", 1, 2, 3, Role.USER)
        kept = trim(conversation(*stream[:2], assistant("chat", day)), frozenset(), START + SECOND)
        assert texts(stream[2], into=kept) == ["abc"]
        gone = trim(conversation(*pieces("abc", day, day, 3)), frozenset(), START + PIECE_LIFE + SECOND)
        assert gone.entries[0].pieces == ()

    def test_what_comes_of_a_message_after_its_words_are_gone_is_heard_by_itself(self):
        """Or a cry for help would go unheard after a long pause."""
        begun, *rest = pieces("crisis" * 3, 1, 400, 3, Role.USER)
        kept = trim(conversation(begun), frozenset(), START + PIECE_LIFE + SECOND)
        further = heard(kept, rest[:1], at(300))
        assert [entry.user_signal for entry in further.entries] == [USERS["crisis"]] * 2
        assert texts(rest[1], into=further) == ["crisiscrisis"], "pieces of the rest join each other"
        again = trim(heard(further, rest, at(300)), frozenset(), at(300) + PIECE_LIFE + SECOND)
        assert texts(user("hello", 900, message=begun.message, final=True), into=again) == ["hello"]


class TestWindow:
    def test_the_oldest_go_first(self):
        kept = trim(conversation(*(user(f"u{n}", n) for n in range(WINDOW + 6))), frozenset(), START)
        assert [entry.at for entry in kept.entries] == [at(n) for n in range(6, WINDOW + 6)]

    def test_what_went_is_remembered_as_far_as_anything_is_judged_by_it(self):
        def said(n):
            return user("hello remembered", n) if n % 2 else assistant("chat remembered", n)

        def left(kept):
            return [(one.assistant, one.memory) for one in kept.left]

        tale = [said(n) for n in range(WINDOW + 20)]
        at_once = trim(conversation(*tale, turn(Role.SYSTEM, "note", 0.5)), frozenset(), START)
        assert left(at_once) == [
            (True, REPLIES["chat remembered"].memory),
            (False, USERS["hello remembered"].memory),
        ] * (REACH // 2)
        one_by_one = EMPTY
        for each in tale:
            one_by_one = trim(heard(one_by_one, [each]), frozenset(), START)
        assert left(one_by_one) == left(at_once)

    def test_before_anything_has_gone_nothing_is_remembered_of_it(self):
        tale = [user("hello remembered", n) for n in range(WINDOW)]
        assert trim(conversation(*tale), frozenset(), START).left == ()

    def test_what_waits_for_a_verdict_is_held(self):
        turns = [user(f"u{n}", n) for n in range(WINDOW + 6)]
        kept = trim(conversation(*turns), frozenset({turns[0].event}), START)
        assert kept.entries[0].event == turns[0].event
        assert len(kept.entries) == WINDOW

    def test_even_what_is_held_is_bounded(self):
        turns = [user(f"u{n}", n) for n in range(HELD_WINDOW + 9)]
        kept = trim(conversation(*turns), frozenset(turn.event for turn in turns), START)
        assert len(kept.entries) == HELD_WINDOW


def test_signals_go_to_their_entry():
    one, two = user("crisis", 1), assistant("good", 2)
    folded = fold(EMPTY, [one, two], START)
    after = scored(folded.conversation, {one.event: USERS["crisis"]})
    assert [type(entry.user_signal) for entry in after.entries] == [UserSignal, type(None)]


BLIND = (Evidence(DEGRADED, "phrases_alone"),)


def grown(kind: str, first: UserSignal | ReplySignal, then: UserSignal | ReplySignal) -> Conversation:
    """A message of which a second piece comes."""
    one, two = pieces("ab", 1, 2, 2, role=Role(kind))
    begun = fold(EMPTY, [replace(one, final=True)], START).conversation
    event = begun.entries[0].event
    more = fold(scored(begun, {event: first}), [two], at(2)).conversation
    return scored(more, {event: then})


class TestWithoutTheEncoder:
    @pytest.mark.parametrize("level", [Level.UNSCORED, Level.PASSIVE_IDEATION, Level.ACTIVE_IDEATION])
    def test_a_crisis_that_was_heard_stays_when_more_of_it_cannot_be_judged(self, level):
        (entry,) = grown(
            "user", USERS["crisis remembered"], UserSignal(level, 0.5, 0.0, evidence=BLIND)
        ).entries
        assert entry.user_signal == replace(USERS["crisis remembered"], evidence=BLIND)

    def test_also_when_the_rest_breaks_the_scorer_or_is_in_a_language_that_is_not_judged(self):
        (entry,) = grown("user", USERS["crisis"], USERS["unscored"]).entries
        assert entry.user_signal == USERS["crisis"]

    def test_of_two_levels_as_urgent_the_imminent_one_stays(self):
        now = UserSignal(Level.HARM_TO_OTHERS, 0.5, 0.0, evidence=BLIND)
        (entry,) = grown("user", USERS["imminent"], now).entries
        assert entry.user_signal.level is Level.PLAN_INTENT

    def test_what_is_graver_counts(self):
        now = UserSignal(Level.IN_PROGRESS, 0.5, 0.0, evidence=BLIND)
        (entry,) = grown("user", USERS["crisis"], now).entries
        assert entry.user_signal == now

    def test_calm_words_that_go_on_unheard_are_unscored(self):
        now = UserSignal(Level.UNSCORED, 0.0, 0.0, evidence=BLIND)
        (entry,) = grown("user", USERS["hello remembered"], now).entries
        assert (entry.user_signal.level, entry.user_signal.degraded) == (Level.UNSCORED, True)
        in_context = contextual([USERS["hello remembered"], entry.user_signal])
        assert in_context[1].level is Level.UNSCORED

    def test_the_encoder_may_clear_what_it_heard(self):
        (entry,) = grown("user", USERS["crisis"], USERS["hello"]).entries
        assert entry.user_signal == USERS["hello"]

    @pytest.mark.parametrize("now", [ReplySignal(failed=True, evidence=BLIND), ReplySignal(evidence=BLIND)])
    def test_harm_that_was_seen_in_a_reply_stays(self, now):
        (entry,) = grown("assistant", REPLIES["harm"], now).entries
        assert (entry.reply_signal.veto, entry.reply_signal.degraded) == (True, True)
        assert entry.reply_signal.failed == now.failed


def test_nobody_can_read_a_text_in_a_repr():
    secret = "words that only one person may read"
    turns = [user(secret, 1), *pieces(secret, 2, 3, 1), assistant("x", 3, assistant={"say": secret})]
    folded = fold(EMPTY, turns, START)
    assert any(isinstance(entry, Entry) and entry.pieces for entry in folded.conversation.entries)
    assert secret not in repr((turns, folded))


def test_user_turns_are_counted_for_all_time():
    whole = Conversation("c")
    for number in range(100):
        whole = trim(
            heard(whole, [user("hello", 2 * number), assistant("chat", 2 * number + 1)]), frozenset(), START
        )
    assert len(whole.entries) < 100
    assert whole.user_turns == 100


def test_pieces_and_repeats_are_no_user_turns_of_their_own():
    said = user("hello", 0)
    whole = heard(Conversation("c"), [said, said, *pieces("crisis", 1, 2, 3, Role.USER)])
    assert heard(whole, [said]).user_turns == 2


def test_a_window_without_a_count_tells_how_many_it_knows():
    whole = replace(conversation(user("hello", 0), user("hello again", 1)), said=0)
    assert heard(whole, [user("and more", 2)]).said == 3


def test_what_the_assistant_says_that_it_did_is_remembered():
    whole = conversation(user("hello", 0), assistant("chat", 1, notes=Notes(labelled=True, safety=True)))
    later = heard(whole, [assistant("chat", 2, notes=Notes(labelled=True, strategy=True))])
    assert (whole.fired, later.fired) == ((Own.SAFETY,), (Own.STRATEGY, Own.SAFETY))
