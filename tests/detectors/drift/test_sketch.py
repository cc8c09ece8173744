from __future__ import annotations

import zlib
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.drift.feature import FEATURES, LEVELS
from detectors.drift.packing import MOST_BYTES, SketchError, from_text, pack, to_text, unpack
from detectors.drift.sample import KEPT, Sample
from detectors.drift.sketch import Reply, StyleSketch, merge_all
from detectors.drift.stratum import ALL, State, Stratum, stratum_of
from detectors.drift.style import Style
from detectors.drift.trace import WIDTH, trace_of
from detectors.finding import Level, UserSignal
from tests.support.styles import Release, draw, feed, replies_of

HASHES = st.integers(0, 2**63)
TRACES = st.one_of(
    st.just(b""), st.binary(min_size=WIDTH, max_size=WIDTH).map(lambda raw: raw.replace(b"\x80", b"\x81"))
)
REPLIES = st.builds(
    Reply,
    st.sampled_from(ALL),
    st.builds(
        Style,
        st.tuples(*[st.integers(0, LEVELS - 1)] * len(FEATURES)),
        st.lists(st.integers(0, 30), max_size=4, unique=True).map(lambda ids: tuple(sorted(ids))),
    ),
    HASHES,
    HASHES,
    st.lists(st.sampled_from(["named", "steadies", "phrase"]), max_size=3).map(tuple),
    TRACES,
)
CONVERSATIONS = st.lists(st.lists(REPLIES, min_size=1, max_size=3), max_size=3)


def fed(conversations):
    sketch = StyleSketch(model="m")
    for replies in conversations:
        for place, reply in enumerate(replies):
            sketch.add(reply, replies[:place])
    return sketch


@settings(max_examples=25)
@given(CONVERSATIONS, CONVERSATIONS, CONVERSATIONS)
def test_merging_is_a_commutative_monoid_and_is_as_one_worker_would_count(one, other, third):
    a, b, c = fed(one), fed(other), fed(third)
    whole = pack(fed([*one, *other, *third]))
    assert pack(a.merge(b).merge(c)) == pack(a.merge(b.merge(c))) == whole
    assert pack(c.merge(a).merge(b)) == whole
    assert pack(a.merge(StyleSketch())) == pack(a)


@settings(max_examples=25)
@given(CONVERSATIONS)
def test_a_packed_sketch_comes_back(conversations):
    sketch = fed(conversations)
    packed = pack(sketch)
    assert pack(unpack(packed)) == packed
    assert pack(from_text(to_text(sketch))) == packed
    assert to_text(sketch).isascii()


def test_workers_counts_are_those_of_one_to_the_last_digit():
    """Ten workers, each with the conversations of its partitions; more sentences than are held."""
    rng = np.random.default_rng(3)
    replies = replies_of(draw(Release(), 1_500, rng, traced=True), rng)
    whole = feed(StyleSketch(), replies)
    parts = [StyleSketch() for _ in range(10)]
    for worker, part in enumerate(parts):
        feed(part, [one for one in replies if one.conversation % 10 == worker])
    merged = merge_all(parts)
    assert (merged.replies, merged.conversations, merged.pairs) == (1_500, whole.conversations, whole.pairs)
    assert merged.strata.keys() == whole.strata.keys()
    for key, tally in whole.strata.items():
        mine = merged.strata[key]
        assert (mine.replies, mine.conversations, mine.traced) == (
            tally.replies,
            tally.conversations,
            tally.traced,
        )
        assert (mine.histograms == tally.histograms).all()
        assert (mine.powers == tally.powers).all()
        assert mine.sample == tally.sample
        assert mine.phrases == tally.phrases
    for key, pairs in whole.linked.items():
        assert (merged.linked[key].sums == pairs.sums).all()


def test_merging_leaves_what_was_merged_as_it_was():
    one, other = fed([]), StyleSketch()
    rng = np.random.default_rng(1)
    replies = replies_of(draw(Release(), 20, rng, traced=True), rng)
    feed(other, replies)
    before = pack(other)
    feed(one.merge(other), replies)
    assert pack(other) == before


def test_a_sketch_is_bounded_whatever_it_was_fed():
    """Every stratum, each reply with sentences of its own."""
    chance = np.random.default_rng(5)
    sketch = StyleSketch(model="m")
    said: list[Reply] = []
    for number in range(2_000):
        reply = Reply(
            ALL[number % len(ALL)],
            Style(
                tuple(chance.integers(0, LEVELS, len(FEATURES)).tolist()),
                tuple(sorted(chance.integers(0, 2**40, 8).tolist())),
            ),
            number // 5,
            number,
            (f"kind {number}" * 9,),
            chance.integers(-127, 128, WIDTH).astype(np.int8).tobytes(),
        )
        sketch.add(reply, said[-4:])
        said.append(reply)
    assert all(len(one.sample.rows) <= KEPT for one in sketch.strata.values())
    assert all(len(one.templates.counts) <= one.templates.most for one in sketch.strata.values())
    assert len(pack(sketch)) < MOST_BYTES
    many = reduce(lambda held, _: held.merge(held), range(40), sketch)
    assert len(pack(many)) < MOST_BYTES
    assert unpack(pack(many)).replies == 2_000 * 2**40


@pytest.mark.parametrize(
    "harm",
    [
        lambda one: one[:-9],
        lambda one: b"js\x09" + one[3:],
        lambda _: b"",
        lambda one: one[:4] + zlib.compress(b"\x00\x01\x01\x01\xff"),
    ],
)
def test_a_damaged_sketch_is_refused_with_what_to_do(harm):
    with pytest.raises(SketchError, match=r"pin the baseline anew|backup"):
        unpack(harm(pack(fed([]))))


def test_a_text_that_is_none_is_refused():
    with pytest.raises(SketchError, match="base 85"):
        from_text("\N{SNOWMAN}")


def test_traces_of_two_models_do_not_merge():
    with pytest.raises(ValueError, match="two models"):
        StyleSketch(model="a").merge(StyleSketch(model="b"))


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 9), st.binary(min_size=1, max_size=1)), max_size=300
    ),
    st.integers(1, 4),
)
def test_a_sample_is_the_same_in_whatever_pieces(rows, pieces):
    def sampled(some):
        sample = Sample()
        for row in some:
            sample.add(*row)
        return sample

    parts = [sampled(rows[at::pieces]) for at in range(pieces)]
    merged = reduce(Sample.merge, parts)
    assert merged.rows == sampled(rows).rows
    assert merged.merge(parts[0]) == merged
    assert sorted(merged.rows) == sorted({row[0] for row in rows})[:KEPT]


@pytest.mark.parametrize(
    ("user", "state"),
    [
        (None, State.CALM),
        (UserSignal(Level.NONE, 0.0, 0.1), State.CALM),
        (UserSignal(Level.NONE, 0.0, 0.3), State.UNEASY),
        (UserSignal(Level.NONE, 0.0, 0.8), State.DISTRESSED),
        (UserSignal(Level.PASSIVE_IDEATION, 0.9, 0.1), State.PASSIVE),
        (UserSignal(Level.OTHER_AT_RISK, 0.9, 0.1), State.PASSIVE),
        (UserSignal(Level.ACTIVE_IDEATION, 0.9, 0.9), State.ACTIVE),
        (UserSignal(Level.SELF_HARM, 0.9, 0.9), State.ACTIVE),
        (UserSignal(Level.HARM_TO_OTHERS, 0.9, 0.9), State.ACTIVE),
        (UserSignal(Level.PLAN_INTENT, 0.9, 0.9), State.IMMINENT),
        (UserSignal(Level.IN_PROGRESS, 0.9, 0.9), State.IMMINENT),
        (UserSignal(Level.UNSCORED, 0.0, 0.1), State.UNKNOWN),
    ],
)
def test_state_of_a_user(user, state):
    assert stratum_of(user, "zh") == Stratum(state, "zh")
    assert stratum_of(user, "tl") == Stratum(state, "other")


@pytest.mark.parametrize("level", Level)
def test_every_level_has_a_state_and_those_who_may_act_within_minutes_one_of_their_own(level):
    state = stratum_of(UserSignal(level, 0.9, 0.1), "zh").state
    assert (state is State.IMMINENT) == level.imminent
    assert (state in (State.PASSIVE, State.ACTIVE, State.IMMINENT)) == level.crisis


def test_strata_of_sketches_that_stand_are_read_as_they_were_written():
    """A packed sketch names its strata by number."""
    assert [(one.state.value, one.language) for one in ALL[::7]] == [
        ("calm", "zh"),
        ("uneasy", "en"),
        ("distressed", "es"),
        ("passive", "de"),
        ("active", "fr"),
        ("imminent", "other"),
    ]


def test_a_trace_is_a_byte_a_number():
    assert trace_of([1.0, -1.0] * 24) == bytes([127, 129] * 24)
    with pytest.raises(ValueError, match="48 numbers"):
        trace_of([1.0])


def test_pairs_are_kept_by_stratum_in_whatever_order_a_conversation_went():
    calm, grave = Stratum(State.CALM, "zh"), Stratum(State.IMMINENT, "zh")
    low, high = (Style((level,) * len(FEATURES)) for level in (2, 5))
    sketch = StyleSketch()
    for number, states in enumerate(([(calm, low), (grave, high)], [(grave, high), (calm, low)])):
        replies = [Reply(stratum, style, number, place) for place, (stratum, style) in enumerate(states)]
        for place, reply in enumerate(replies):
            sketch.add(reply, replies[:place])
    (pairs,) = sketch.linked.values()
    assert list(sketch.linked) == [(calm, grave)]
    assert (pairs.pairs, pairs.traced, sketch.pairs) == (2, 0, 2)
    assert pairs.sums[:, 0].tolist() == [4, 10, 20]
    assert not pairs.sums[:, len(FEATURES) :].any()


def test_earlier_replies_that_are_not_at_hand_are_counted():
    reply = Reply(Stratum(State.CALM, "zh"), Style((1,) * len(FEATURES)), 1, 1)
    sketch = StyleSketch()
    sketch.add(reply)
    sketch.add(reply, [reply], earlier=30)
    assert (sketch.replies, sketch.conversations, sketch.pairs) == (2, 1, 30)
    (pairs,) = sketch.linked.values()
    assert pairs.pairs == 1
