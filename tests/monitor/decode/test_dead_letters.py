from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from monitor.decode.dead_letters import DeadLetterLimit, DeadLetterPolicy, StopReason

SMALL = DeadLetterPolicy(in_a_row=5, share=0.5, window=20, least=10)


def feed(limit: DeadLetterLimit, records: Iterable[bool]) -> StopReason | None:
    for dead in records:
        if reason := limit.count(dead=dead):
            return reason
    return None


def test_a_thousand_in_a_row_stop_the_line() -> None:
    assert feed(DeadLetterLimit(), [True] * 999) is None
    assert feed(DeadLetterLimit(), [True] * 1000) is StopReason.IN_A_ROW


def test_one_good_record_breaks_the_row() -> None:
    limit = DeadLetterLimit(DeadLetterPolicy(share=1.1))
    assert feed(limit, ([True] * 999 + [False]) * 20) is None


def test_a_fifth_of_the_window_stops_the_line() -> None:
    assert feed(DeadLetterLimit(), ([True] + [False] * 4) * 2000) is StopReason.SHARE
    assert feed(DeadLetterLimit(), ([True] + [False] * 5) * 2000) is None


def test_the_share_counts_only_once_enough_was_seen() -> None:
    start = [True, True, False, True, True, False, True, True, False]
    limit = DeadLetterLimit(SMALL)
    assert feed(limit, start) is None
    assert limit.share > 0.5
    assert limit.count(dead=False) is StopReason.SHARE


def test_a_window_below_what_must_be_seen_is_judged_when_it_is_full() -> None:
    """``least`` is no setting: a smaller window would never be judged."""
    assert feed(DeadLetterLimit(DeadLetterPolicy(window=100)), [True, False] * 49) is None
    assert feed(DeadLetterLimit(DeadLetterPolicy(window=100)), [True, False] * 50) is StopReason.SHARE


def test_what_left_the_window_is_forgotten() -> None:
    limit = DeadLetterLimit(SMALL)
    assert feed(limit, [True] * 4 + [False] * 20) is None
    assert limit.share == 0.0


def test_reset_counts_anew() -> None:
    limit = DeadLetterLimit(SMALL)
    assert feed(limit, [True] * 5) is StopReason.IN_A_ROW
    limit.reset()
    assert limit.decide() is None
    assert feed(limit, [True] * 4) is None


@given(st.lists(st.booleans(), max_size=60))
def test_it_agrees_with_counting_by_hand(records: list[bool]) -> None:
    limit = DeadLetterLimit(SMALL)
    for count in range(1, len(records) + 1):
        reason = limit.count(dead=records[count - 1])
        seen = records[:count]
        window = seen[-SMALL.window :]
        row = count >= SMALL.in_a_row and all(seen[-SMALL.in_a_row :])
        share = len(window) >= SMALL.least and sum(window) / len(window) >= SMALL.share
        assert reason is (StopReason.IN_A_ROW if row else StopReason.SHARE if share else None)
