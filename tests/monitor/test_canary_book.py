"""Which canaries are due, waited for and overdue."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.canary import Canary
from monitor.canary_book import NEWEST, CanaryBook
from tests.support.fake_clock import EPOCH

MINUTE, WITHIN = timedelta(minutes=1), timedelta(seconds=30)
SECOND = timedelta(seconds=1)


@pytest.fixture
def book() -> CanaryBook:
    made = CanaryBook(MINUTE, WITHIN, EPOCH)
    made.partitions([0, 1, 2], EPOCH)
    return made


def rounds(book: CanaryBook, count: int, lost: int | None = None) -> list[list[int]]:
    """Partitions of each minute's canaries; those of ``lost`` never arrive."""
    found = []
    for number in range(count):
        begun = book.begin(EPOCH + number * MINUTE)
        found.append([one.partition for one in begun])
        for one in begun:
            if one.partition != lost:
                book.arrived(one)
    return found


def test_every_partition_has_its_turn(book):
    partitions = [one for some in rounds(book, 3) for one in some]
    assert sorted(partitions) == [0, 1, 2]


def test_workers_agree_whatever_second_they_look_in():
    one, other = CanaryBook(MINUTE, WITHIN, EPOCH), CanaryBook(MINUTE, WITHIN, EPOCH + 7 * SECOND)
    assert one.begin(EPOCH + SECOND) == other.begin(EPOCH + 59 * SECOND)
    assert one.next_at(EPOCH + SECOND) == EPOCH + MINUTE


def test_a_lost_one_is_tried_again_each_minute_beside_the_others(book):
    found = rounds(book, 6, lost=1)
    first = next(number for number, some in enumerate(found) if 1 in some)
    assert all(1 in some for some in found[first:])
    assert {one for some in found[first:] for one in some} == {0, 1, 2}


def test_overdue_until_one_arrives(book):
    [canary] = book.begin(EPOCH)
    assert not book.overdue(EPOCH + WITHIN)
    assert book.overdue(EPOCH + WITHIN + SECOND) == {canary.partition}
    later = Canary(canary.at + 60, canary.partition)
    assert book.arrived(later)
    assert not book.overdue(EPOCH + MINUTE)
    assert not book.arrived(canary)


def test_by_when_the_next_must_arrive(book):
    [canary] = book.begin(EPOCH)
    assert book.due(canary.partition) == EPOCH + WITHIN
    book.arrived(canary)
    assert book.due(canary.partition) == EPOCH + 4 * MINUTE + WITHIN
    others = {0, 1, 2} - {canary.partition}
    assert {book.due(one) for one in others} == {EPOCH + 4 * MINUTE + WITHIN}


def test_partitions_that_are_gone_are_not_waited_for(book):
    rounds(book, 3, lost=2)
    book.partitions([0, 1], EPOCH + 3 * MINUTE)
    assert not book.overdue(EPOCH + 5 * MINUTE)


def test_a_day_without_any_is_waited_for_in_bounded_space():
    book = CanaryBook(MINUTE, WITHIN, EPOCH)
    book.partitions(range(64), EPOCH)
    [first] = book.begin(EPOCH)
    begun = [book.begin(EPOCH + number * MINUTE) for number in range(1, 24 * 60)]
    assert len(begun[-1]) == 64
    assert len(book.waiting) == 64 * (NEWEST + 1)
    assert first in book.waiting
    assert set(begun[-1]) < book.waiting
    assert book.due(first.partition) == EPOCH + WITHIN
    for canary in begun[-1]:
        book.arrived(canary)
    assert not book.waiting


def test_its_own_turn_comes_first(book):
    rounds(book, 6, lost=0)
    for number in range(6, 12):
        begun = book.begin(EPOCH + number * MINUTE)
        turn = (int(EPOCH.timestamp()) // 60 + number) % 3
        assert begun[0].partition == turn


def test_a_fresh_worker_goes_on_where_the_others_stand():
    later = EPOCH + 10 * MINUTE
    arrived = [Canary(int(EPOCH.timestamp()), 0), Canary(int(later.timestamp()) - 60, 1)]
    fresh = CanaryBook(MINUTE, WITHIN, later)
    fresh.partitions([0, 1], later)
    fresh.learn(arrived)
    assert fresh.due(0) == EPOCH + 3 * MINUTE + WITHIN
    assert fresh.overdue(later) == {0}
    assert 0 in {canary.partition for canary in fresh.begin(later)}  # tried at once


def test_a_partition_that_is_new_gets_the_time_of_a_round(book):
    rounds(book, 30)
    book.partitions([0, 1, 2, 3], EPOCH + 30 * MINUTE)
    assert not book.overdue(EPOCH + 30 * MINUTE)
    assert book.due(3) == EPOCH + 35 * MINUTE + WITHIN
