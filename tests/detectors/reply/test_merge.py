from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detectors.finding import EmotionNamed, Evidence, Flag, ReplySignal
from detectors.reply.merge import NOTHING, merge, merge_all
from detectors.text.gist import gist

_FLAGS = tuple(Flag)
SPOKEN = st.builds(
    ReplySignal,
    **dict.fromkeys(
        (
            "risk_recognised",
            "follows_thread",
            "holds_feeling",
            "refers",
            "boundary",
            "reassures",
            "refusal",
            "supported",
            "veto",
        ),
        st.booleans(),
    ),
    harm=st.frozensets(st.sampled_from(("dares", "blames", "permits"))).map(
        lambda kinds: tuple(sorted(kinds))
    ),
    flags=st.frozensets(st.sampled_from(_FLAGS), max_size=4).map(
        lambda flags: tuple(sorted(flags, key=_FLAGS.index))
    ),
    emotion_named=st.sampled_from(EmotionNamed),
    numbers_known=st.integers(0, 3),
    numbers_unknown=st.integers(0, 3),
    evidence=st.frozensets(
        st.builds(Evidence, st.sampled_from(("refers", "harm")), st.sampled_from("ab"), st.integers(0, 2))
    ).map(lambda found: tuple(sorted(found, key=str))),
    gist=st.text("abcdefgh ", max_size=400).map(gist),
    language=st.sampled_from(("zh", "en", "und")),
)
SIGNALS = st.one_of(st.just(NOTHING), SPOKEN)


@given(SIGNALS)
def test_empty_reply_is_the_identity(signal):
    assert merge(signal, NOTHING) == signal == merge(NOTHING, signal)


@given(SIGNALS, SIGNALS)
def test_order_does_not_matter(one, other):
    assert merge(one, other) == merge(other, one)


@given(SIGNALS, SIGNALS, SIGNALS)
def test_grouping_does_not_matter(one, two, three):
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(SPOKEN, SPOKEN)
def test_good_and_bad_add_up(one, other):
    both = merge(one, other)
    assert both.refers == (one.refers or other.refers)
    assert both.follows_thread == (one.follows_thread or other.follows_thread)
    assert both.veto == (one.veto or other.veto)
    assert both.supported == (one.supported and other.supported)


def test_refusal_stands_only_where_nothing_else_was_said():
    refusal, warm = ReplySignal(refusal=True), ReplySignal(holds_feeling=True)
    assert merge(refusal, refusal).refusal
    assert merge(refusal, NOTHING).refusal
    assert not merge(refusal, warm).refusal


def test_no_message_is_the_empty_reply():
    assert merge_all([]) == NOTHING
