"""How far a partition has been read, and what that says about the time."""

from __future__ import annotations

from datetime import timedelta

from monitor.reading import CLOCK_AHEAD, Reading
from tests.support.builders import START, at

HERE, THERE = ("turns", 0), ("turns", 1)


def reading(*, caught_up: bool = False) -> Reading:
    found = Reading(lambda _: caught_up)
    found.assigned({HERE: 5})
    return found


def test_nothing_read_says_nothing():
    moment = reading().moment(HERE, START)
    assert (moment.watermark, moment.caught_up) == (None, False)


def test_a_partition_that_is_not_ours_goes_by_the_clock():
    assert reading().moment(THERE, START).caught_up


def test_the_watermark_moves_when_a_batch_is_written():
    found = reading()
    assert found.moment(HERE, at(60), newest=at(10)).watermark == at(10)
    assert found.moment(HERE, at(60)).watermark is None
    found.written({HERE: 6}, {HERE: at(10)}, at(60))
    assert found.moment(HERE, at(60)).watermark == at(10)
    assert found.positions == {HERE: 6}


def test_the_watermark_does_not_go_back():
    found = reading()
    found.seen({HERE: at(10)}, at(60))
    found.seen({HERE: at(5)}, at(60))
    assert found.moment(HERE, at(60), newest=at(3)).watermark == at(10)


def test_a_clock_that_runs_ahead_is_not_believed():
    found = reading()
    found.seen({HERE: at(7200)}, START)
    assert found.moment(HERE, START).watermark == START + CLOCK_AHEAD
    assert found.moment(HERE, START, newest=at(9000)).watermark == START + CLOCK_AHEAD


def test_live_traffic_is_caught_up_whatever_the_lag_says():
    found = reading()
    found.seen({HERE: at(58)}, at(60))
    assert found.moment(HERE, at(60)).caught_up
    assert not found.moment(HERE, at(70)).caught_up


def test_what_was_read_ahead_proves_no_silence():
    found = reading(caught_up=True)
    found.seen({HERE: at(60)}, at(60))
    found.go_ahead([HERE])
    moment = found.moment(HERE, at(60))
    assert (moment.watermark, moment.caught_up) == (None, False)
    assert found.ahead([HERE, THERE]) == {HERE}


def test_reading_on_from_the_database_forgets_what_was_read_beyond():
    found = reading()
    found.seen({HERE: at(60)}, at(60))
    found.go_ahead([HERE])
    found.assigned({HERE: 5})
    moment = found.moment(HERE, at(60))
    assert (moment.watermark, moment.caught_up) == (None, False)
    assert found.ahead([HERE]) == frozenset()


def test_a_partition_that_is_gone_is_forgotten():
    found = reading()
    found.seen({HERE: at(10)}, at(10))
    found.revoked([HERE])
    assert not found.owns(HERE)
    found.assigned({HERE: 9})
    assert found.moment(HERE, at(10) + timedelta(hours=1)).watermark is None


def test_a_fork_goes_its_own_way():
    found = reading()
    found.seen({HERE: at(10)}, at(60))
    fork = found.fork()
    found.go_ahead([HERE])
    fork.seen({HERE: at(50)}, at(60))
    assert fork.moment(HERE, at(60)).watermark == at(50)
    assert found.moment(HERE, at(60)).watermark is None
    found.revoked([HERE])
    assert not fork.owns(HERE)
