"""Long streams: thousands of pieces, thousands of characters. Nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.conversation import Conversation, Entry
from detectors.crisis.phrases import PhraseScorer
from detectors.finding import Level, Outcome
from detectors.fold import fold, scored
from detectors.pieces import APART, EVENTS, KEPT, TOGETHER, joined_text
from detectors.reply.outcome import judge
from detectors.reply.scorer import PatternReplyScorer
from detectors.turn import Role, Turn
from tests.support.builders import START, turn

GOOD = "你一定累透了。有没有想过自杀？我只是AI，替不了医生，现在就拨12356，或者叫室友过来陪你。"
HARM = "这是我们的小秘密，谁都别说。"
CRY = "我想自杀。"
BATCH = 50


def stream(texts: Sequence[str], role: Role = Role.ASSISTANT) -> list[Turn]:
    last = len(texts) - 1
    return [
        turn(role, text, n / 50, message="m", final=n == last, event=f"p{n}") for n, text in enumerate(texts)
    ]


def words(first: str, count: int, last: str) -> list[str]:
    """``count`` pieces, the first sentence a character each."""
    return [*first, *("嗯。" for _ in range(count - len(first) - 1)), last]


def read(turns: Sequence[Turn], size: int = BATCH, into: Conversation | None = None) -> Entry:
    """As the daemon reads it, batch by batch, judged by phrases."""
    state = into or Conversation("c")
    for begin in range(0, len(turns), size):
        folded = fold(state, turns[begin : begin + size], START)
        found = {}
        for one in folded.unscored:
            scorer = PhraseScorer().score if one.role is Role.USER else _replies
            [found[one.entry]] = scorer([one.text], [one.lang])
        state = scored(folded.conversation, found)
    [entry] = state.entries
    return entry


def _replies(texts, langs):
    return PatternReplyScorer().score(texts, langs, [None])


def outcome(entry: Entry) -> Outcome:
    assert entry.reply_signal is not None
    return judge(entry.reply_signal, Level.ACTIVE_IDEATION).outcome


def swapped(turns: Sequence[Turn]) -> list[Turn]:
    """Each with its neighbour."""
    return [turns[n ^ 1] if n ^ 1 < len(turns) else turns[n] for n in range(len(turns))]


@pytest.mark.parametrize("size", [1, BATCH, 5_000])
def test_a_good_reply_of_thousands_of_pieces_is_handled(size):
    entry = read(stream(words(GOOD, 1_300, "嗯。")), size)
    assert (outcome(entry), entry.cut, entry.whole) == (Outcome.HANDLED, False, True)


@pytest.mark.parametrize("arrives", [list, swapped])
@pytest.mark.parametrize("size", [BATCH, 5_000])
def test_harm_in_the_last_of_many_pieces_is_seen(arrives, size):
    texts = words(GOOD, 1_100, HARM)
    entry = read(arrives(stream(texts)), size)
    assert joined_text(entry.pieces) == "".join(texts)
    assert outcome(entry) is Outcome.HARMFUL


def test_help_in_the_last_of_many_pieces_is_seen():
    assert outcome(read(stream(words("嗯。", 1_300, GOOD)))) is Outcome.HANDLED


def test_a_cry_in_a_late_piece_is_heard():
    entry = read(stream(words("你好。", 1_200, CRY), Role.USER))
    assert entry.user_signal.level.crisis


def test_a_message_sent_again_as_a_whole_is_a_repeat():
    turns = stream(words(GOOD, 1_300, "嗯。"))
    state = Conversation("c")
    for begin in range(0, len(turns), BATCH):
        state = fold(state, turns[begin : begin + BATCH], START).conversation
    again = fold(state, turns, START)
    assert (again.conversation.entries, again.unscored, again.repeats) == (state.entries, (), 1_300)


def test_a_gap_that_stays_open_changes_nothing():
    turns = stream(words(GOOD, 1_300, "嗯。"))
    assert outcome(read([*turns[:700], *turns[710:]])) is Outcome.HANDLED


def test_what_comes_too_late_for_its_place_is_read_and_never_counts_as_help():
    turns = stream(words(GOOD, 1_300, "嗯。"))
    entry = read([*turns[:100], *turns[101:], turns[100]])
    assert len(joined_text(entry.pieces)) == sum(len(one.text) for one in turns)
    assert (outcome(entry), entry.cut) == (Outcome.UNHANDLED, True)
    harm = replace(turns[100], text=HARM)
    assert outcome(read([*turns[:100], *turns[101:], harm])) is Outcome.HARMFUL


class TestTooLong:
    def test_a_reply_is_never_handled(self):
        entry = read(stream([GOOD, *["嗯。" * 3_500] * 10]), 1)
        assert (outcome(entry), entry.cut) == (Outcome.UNHANDLED, True)
        assert judge(entry.reply_signal, Level.ACTIVE_IDEATION).reason == "cut"

    @pytest.mark.parametrize("size", [1, BATCH])
    def test_its_tail_is_read(self, size):
        assert outcome(read(stream([GOOD, *["嗯。" * 3_500] * 10, HARM]), size)) is Outcome.HARMFUL

    def test_also_where_nothing_can_be_read_in_what_is_left(self):
        entry = read(stream([*["…" * 7_000] * 20]), 1)
        assert not entry.reply_signal.supported
        assert not entry.reply_signal.empty, "or a good message beside it would hide it"

    def test_of_a_user_head_and_tail_are_kept(self):
        entry = read(stream(["首", *["嗯。" * 3_500] * 10, CRY], Role.USER), 1)
        kept = joined_text(entry.pieces)
        assert (len(kept), kept[0], kept.endswith(CRY)) == (KEPT, "首", True)
        assert entry.user_signal.level.crisis

    @pytest.mark.parametrize("size", [1, BATCH])
    def test_a_cry_that_was_heard_and_is_lost_stays(self, size):
        middle = ["嗯。" * 3_500] * 5
        entry = read(stream([*middle, CRY, *middle, "好。"], Role.USER), size)
        assert CRY not in joined_text(entry.pieces)
        assert entry.user_signal.level.crisis

    def test_its_reasons_do_not_grow_with_its_pieces(self):
        entry = read(stream([CRY, *["嗯。" * 3_500] * 10, *["嗯。"] * 6], Role.USER), 1)
        assert len(entry.user_signal.evidence) <= 4

    def test_words_that_never_met_make_no_new_one(self):
        entry = read(stream(["甲" * (KEPT // 2), "丙", "乙" * (KEPT // 2)]), 1)
        assert "甲乙" not in joined_text(entry.pieces)


@pytest.mark.parametrize("text", ["", "嗯", "a word ", "x" * 300], ids=len)
def test_what_is_kept_is_bounded(text):
    entry = read(stream([text] * 6_000, Role.USER), 1_000)
    assert len(entry.pieces) <= APART + 2 * KEPT // TOGETHER + 1
    assert sum(len(one.text) for one in entry.pieces) <= KEPT
    assert sum(len(one.others) for one in entry.pieces) <= EVENTS


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_disorder_within_reach_and_any_batches_give_the_same_words(data):
    turns = stream(words(GOOD, 1_500, HARM))
    far = data.draw(st.integers(0, APART // 4))
    shifts = data.draw(st.lists(st.integers(0, far), min_size=16, max_size=16))
    arrival = [one for _, one in sorted(enumerate(turns), key=lambda each: each[0] + shifts[each[0] % 16])]
    state = Conversation("c")
    while arrival:
        size = data.draw(st.integers(1, 400))
        batch, arrival = arrival[:size], arrival[size:]
        state = fold(state, [*batch, *batch[:3]], START).conversation
    [entry] = state.entries
    assert joined_text(entry.pieces) == "".join(one.text for one in turns)
    assert not entry.cut
