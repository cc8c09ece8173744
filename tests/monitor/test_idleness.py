"""A detector that is loaded and idle while people write."""

from __future__ import annotations

from datetime import timedelta

from monitor.idleness import LEAST, LIMIT, QUIET, DetectorWatch
from tests.support.fake_clock import EPOCH

SECOND = timedelta(seconds=1)


def test_it_counts_once_many_turns_went_by_for_long():
    watch = DetectorWatch()
    watch.passed(LEAST, 0, EPOCH)
    assert watch.idle_since(EPOCH + LIMIT - SECOND) is None
    assert watch.idle_since(EPOCH + LIMIT) == EPOCH


def test_a_few_turns_in_other_languages_do_not_count():
    watch = DetectorWatch()
    watch.passed(LEAST - 1, 0, EPOCH)
    assert watch.idle_since(EPOCH + LIMIT) is None
    watch.passed(1, 0, EPOCH + LIMIT)
    assert watch.idle_since(EPOCH + LIMIT) == EPOCH


def test_one_judged_turn_shows_that_it_works():
    watch = DetectorWatch()
    watch.passed(LEAST, 0, EPOCH)
    watch.passed(50, 1, EPOCH + SECOND)
    assert watch.idle_since(EPOCH + 2 * LIMIT) is None


def test_silence_is_no_idleness():
    watch = DetectorWatch()
    watch.passed(0, 0, EPOCH)
    assert watch.idle_since(EPOCH + 2 * LIMIT) is None


def test_it_ends_once_nobody_writes_any_more_and_comes_back_with_the_next_turn():
    watch = DetectorWatch()
    watch.passed(LEAST, 0, EPOCH)
    assert watch.idle_since(EPOCH + QUIET) == EPOCH
    assert watch.idle_since(EPOCH + QUIET + SECOND) is None
    watch.passed(1, 0, EPOCH + 2 * QUIET)
    assert watch.idle_since(EPOCH + 2 * QUIET) == EPOCH
