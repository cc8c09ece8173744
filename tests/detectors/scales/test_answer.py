from __future__ import annotations

from detectors.finding import Emotion, EmotionNamed, Level, Outcome, ReplySignal, UserSignal
from detectors.scales.answer import Recognition, answers

CRISIS = UserSignal(Level.ACTIVE_IDEATION, 0.9, 0.8)
CALM = UserSignal(Level.NONE, 0.0, 0.1)
ALL_FIVE = ReplySignal(risk_recognised=True, holds_feeling=True, refers=True, boundary=True)
HELD = ReplySignal(holds_feeling=True)


def outcomes(*turns):
    return [one.handling.outcome for one in answers(turns)]


def test_user_turns_in_a_row_are_answered_together_and_replies_add_up():
    (answer,) = answers([CALM, CRISIS, ReplySignal(refers=True), ReplySignal(holds_feeling=True)])
    assert (answer.place, answer.user) == (2, CRISIS)
    assert answer.reply.refers
    assert answer.reply.holds_feeling
    assert answer.handling.outcome is Outcome.INCOMPLETE


def test_a_reply_before_anybody_spoke_answers_nothing():
    assert answers([HELD]) == []
    assert [one.place for one in answers([HELD, CALM, HELD])] == [1]


def test_a_crisis_turn_that_nothing_follows_has_no_reply():
    assert outcomes(CRISIS) == [Outcome.NO_REPLY]
    assert outcomes(CALM) == [Outcome.NOT_APPLICABLE]
    assert outcomes(CRISIS, ReplySignal(empty=True)) == [Outcome.UNHANDLED]


def test_later_presence_is_enough_after_help_was_given_in_full():
    assert outcomes(CRISIS, ALL_FIVE, CRISIS, HELD) == [Outcome.HANDLED, Outcome.HANDLED]
    assert outcomes(CRISIS, HELD, CRISIS, HELD) == [Outcome.UNHANDLED, Outcome.UNHANDLED]


def test_a_graver_turn_asks_for_help_anew():
    planned = UserSignal(Level.PLAN_INTENT, 0.9, 0.9)
    assert outcomes(CRISIS, ALL_FIVE, planned, HELD)[1] is not Outcome.HANDLED


def test_help_is_owed_again_once_somebody_was_dropped():
    assert outcomes(CRISIS, ALL_FIVE, CRISIS, ReplySignal(), CRISIS, HELD)[2] is not Outcome.HANDLED


def test_an_emotion_is_due_where_somebody_hurts():
    (hurt,) = answers([UserSignal(Level.NONE, 0.0, 0.7, (Emotion.FEAR,)), HELD])
    (glad,) = answers([UserSignal(Level.NONE, 0.0, 0.7, (Emotion.JOY,)), HELD])
    (calm,) = answers([CALM, HELD])
    assert (hurt.emotion_due, glad.emotion_due, calm.emotion_due) == (True, False, False)


def test_recognition_counts_kind_and_strength():
    named = {kind: answers([CRISIS, ReplySignal(emotion_named=kind)])[0].emotion for kind in EmotionNamed}
    assert named == {
        EmotionNamed.NONE: Recognition.MISSED,
        EmotionNamed.TYPE_ONLY: Recognition.KIND_ONLY,
        EmotionNamed.TYPE_AND_STRENGTH: Recognition.NAMED,
    }
    assert answers([CALM, HELD])[0].emotion is None
