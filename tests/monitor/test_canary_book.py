"""Which canaries are due, waited for and overdue."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.canary import Canary
from monitor.canary_book import CanaryBook
from tests.support.fake_clock import EPOCH

MINUTE, WITHIN = timedelta(minutes=1), timedelta(seconds=30)
SECOND = timedelta(seconds=1)


@pytest.fixture
def book() -> CanaryBook:
    made = CanaryBook(MINUTE, WITHIN, EPOCH)
    made.partitions([0, 1, 2])
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
    book.partitions([0, 1])
    assert not book.overdue(EPOCH + 5 * MINUTE)
