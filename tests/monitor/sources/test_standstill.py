from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.sources.progress import PartitionProgress, Progress, SourceState
from monitor.sources.unreadable import StandstillWatch

START = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
PLACE = ("t", 0)


def seen(
    second: int,
    *,
    position: int = 3,
    end: int = 5,
    held: bool = False,
    answering: bool = True,
    busy: bool = False,
) -> tuple[Progress, datetime]:
    now = START + timedelta(seconds=second)
    part = PartitionProgress(position, end, now if answering else START, since=START, held=held)
    return Progress(SourceState.JOINED, {PLACE: part}, handling_since=now if busy else None), now


def test_a_partition_that_stands_still_is_named_every_five_seconds() -> None:
    watch = StandstillWatch()
    named = [second for second in range(12) if watch.observe(*seen(second)) == [PLACE]]
    assert named == [5, 10]


@pytest.mark.parametrize(
    "why", [{"end": 3}, {"held": True}, {"answering": False}, {"busy": True}], ids=lambda why: next(iter(why))
)
def test_there_may_be_a_reason_to_stand_still(why: dict[str, int]) -> None:
    watch = StandstillWatch()
    assert [watch.observe(*seen(second, **why)) for second in range(3, 12)] == [[]] * 9


def test_what_moves_does_not_stand_still() -> None:
    watch = StandstillWatch()
    assert [watch.observe(*seen(second, position=second, end=99)) for second in range(12)] == [[]] * 12
