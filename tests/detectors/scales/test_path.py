from __future__ import annotations

from detectors.finding import Cue, Emotion, EmotionNamed, Evidence, Flag, Level, ReplySignal, UserSignal
from detectors.scales.answer import answers
from detectors.scales.path import load_guide, walk

DOUBTS = UserSignal(Level.NONE, 0.0, 0.7, (Emotion.LOW_MOOD,), (Cue.SELF_NEGATION,))
PANIC = UserSignal(Level.NONE, 0.0, 0.7, (Emotion.ANXIETY,))
NAMED = ReplySignal(emotion_named=EmotionNamed.TYPE_AND_STRENGTH)
VALIDATED = ReplySignal(flags=(Flag.VALIDATION,))
ASKED = ReplySignal(flags=(Flag.OPEN_QUESTION,))
OTHER_VIEW = ReplySignal(evidence=(Evidence("guidance", "other_view"),))
ADVISED = ReplySignal(flags=(Flag.PREMATURE_ADVICE,))


def went(*turns):
    return walk(answers(turns))


def test_every_path_names_described_steps():
    guide = load_guide()
    assert {path.name for path in guide.paths} == {"crisis", "self_doubt", "overwhelmed", "low"}
    for path in guide.paths:
        assert {*path.steps, *path.never} <= guide.parts.keys()


def test_the_whole_path_over_four_turns():
    found = went(DOUBTS, NAMED, DOUBTS, VALIDATED, DOUBTS, ASKED, DOUBTS, OTHER_VIEW)
    assert found.path.name == "self_doubt"
    assert found.reached == (("name", 1), ("validate", 2), ("ask_evidence", 3), ("re_evaluate", 4))
    assert (found.left_at, found.why) == (None, None)


def test_steps_count_in_order_only():
    found = went(DOUBTS, ASKED, DOUBTS, NAMED)
    assert found.reached == (("name", 2),)
    assert (found.left_at, found.why) == (2, "validate")


def test_advice_before_it_was_wanted_leaves_the_path_where_it_came():
    found = went(DOUBTS, NAMED, DOUBTS, ADVISED, DOUBTS, VALIDATED)
    assert found.reached == (("name", 1),)
    assert (found.left_at, found.why) == (2, "advice_too_early")


def test_denying_the_feeling_leaves_the_path():
    assert went(DOUBTS, ReplySignal(flags=(Flag.JUDGING,))).why == "feeling_denied"


def test_several_steps_may_stand_in_one_reply():
    reply = ReplySignal(
        holds_feeling=True, emotion_named=EmotionNamed.TYPE_AND_STRENGTH, flags=(Flag.OPEN_QUESTION,)
    )
    found = went(PANIC, reply)
    assert found.path.name == "overwhelmed"
    assert found.left_at is None


def test_a_crisis_has_its_own_path_from_where_it_shows():
    crisis = UserSignal(Level.ACTIVE_IDEATION, 0.9, 0.9)
    found = went(DOUBTS, ADVISED, crisis, ReplySignal(risk_recognised=True, holds_feeling=True, refers=True))
    assert found.path.name == "crisis"
    assert found.reached == (("recognise", 2), ("hold", 2), ("connect", 2))
    assert found.why == "boundary"


def test_small_talk_has_no_path():
    assert went(UserSignal(Level.NONE, 0.0, 0.1), ReplySignal()) is None
