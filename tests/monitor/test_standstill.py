"""What counts as a standstill of reading (R39), and what is only quiet."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from monitor.sources.progress import PartitionProgress, Progress, SourceState
from monitor.standstill import LIMIT, SILENT, Cause, ReadingWatch, Standstill
from tests.support.fake_clock import EPOCH

SECOND = timedelta(seconds=1)
PLACE = ("turns", 0)


def well(now: datetime, position: int = 5, end: int = 5) -> Progress:
    return Progress(
        SourceState.JOINED,
        {PLACE: PartitionProgress(position, end, polled=now, since=EPOCH)},
        looked=now,
    )


def watched(progress, seconds: int) -> list[Standstill | None]:
    """Look every second; ``progress`` is what is seen at each moment."""
    watch = ReadingWatch()
    return [watch.look(progress(now), now) for now in (EPOCH + n * SECOND for n in range(seconds))]


def test_an_empty_topic_is_no_standstill():
    assert not any(watched(well, 600))


def test_a_backlog_that_is_read_is_no_standstill():
    assert not any(watched(lambda now: well(now, (now - EPOCH).seconds // 30, 10_000), 600))


@pytest.mark.parametrize(("done", "stands"), [(5, False), (600, True)])
def test_what_waits_for_its_turn_in_the_client_is_slow_and_does_not_stand_still(done, stands):
    def seen(now: datetime) -> Progress:
        known = PartitionProgress(5, 900, polled=EPOCH, since=EPOCH, unread=True)
        return Progress(SourceState.JOINED, {PLACE: known}, looked=now, last_done=now - done * SECOND)

    assert any(watched(seen, 600)) is stands


def test_a_worker_without_partitions_rests():
    assert not any(watched(lambda now: Progress(SourceState.JOINED, looked=now), 600))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"state": SourceState.CONNECTING}, Cause.BROKER_AWAY),
        ({"failures": 3}, Cause.BATCHES_FAIL),
        ({"handling_since": EPOCH}, Cause.BATCH_HANGS),
        ({"looked": EPOCH}, Cause.SOURCE_STUCK),
    ],
)
def test_it_counts_once_it_has_lasted(change, cause):
    found = watched(lambda now: replace(well(now), **change), 50)
    first = next(index for index, one in enumerate(found) if one)
    assert first * SECOND == LIMIT
    assert found[first] == Standstill(cause, EPOCH)


def test_records_wait_and_nobody_takes_them():
    found = watched(lambda now: well(now, 5, 6), 50)
    assert found[44:46] == [None, Standstill(Cause.DOES_NOT_ADVANCE, EPOCH)]


def test_a_partition_that_moved_once_has_its_time_anew():
    found = watched(lambda now: well(now, 5 + (now >= EPOCH + 30 * SECOND), 9), 80)
    assert found.index(Standstill(Cause.DOES_NOT_ADVANCE, EPOCH + 30 * SECOND)) == 75


def test_a_held_partition_is_not_waited_for():
    def held(now):
        return Progress(
            SourceState.JOINED, {PLACE: PartitionProgress(5, 9, now, EPOCH, held=True)}, looked=now
        )

    assert not any(watched(held, 100))


def test_a_broker_that_joins_and_says_nothing_counts_from_its_last_answer():
    def silent(now):
        return Progress(SourceState.JOINED, {PLACE: PartitionProgress(5, 5, EPOCH, EPOCH)}, looked=now)

    found = watched(silent, 60)
    first = next(one for one in found if one)
    assert first.cause is Cause.BROKER_SILENT
    assert found.index(first) * SECOND <= LIMIT + SECOND
    assert SILENT < LIMIT


def test_what_is_over_begins_anew():
    def away(now):
        return replace(
            well(now), state=SourceState.CONNECTING if now != EPOCH + 30 * SECOND else SourceState.JOINED
        )

    found = watched(away, 80)
    assert not any(found[:76])
    assert found[76] == Standstill(Cause.BROKER_AWAY, EPOCH + 31 * SECOND)


def test_a_position_that_is_never_learnt_is_a_standstill_though_the_others_are_read():
    lost = frozenset({("turns", 1)})
    found = watched(
        lambda now: replace(well(now, (now - EPOCH).seconds, 10_000), unknown=lost, last_done=now), 60
    )
    assert found[44:46] == [None, Standstill(Cause.POSITION_UNKNOWN, EPOCH)]


def test_positions_that_are_found_again_and_again_are_no_standstill():
    def moving(now):
        return replace(well(now), unknown=frozenset({("turns", (now - EPOCH).seconds // 20)}))

    assert not any(watched(moving, 600))


def test_a_group_that_never_says_what_is_ours_is_silent():
    found = watched(lambda now: Progress(SourceState.JOINED, looked=now, joining=True), 60)
    assert found[44:46] == [None, Standstill(Cause.BROKER_SILENT, EPOCH)]


class Silent:
    """A broker that connects and answers nothing: the client is built anew after 90 s, which takes it two seconds."""

    def __init__(self, again: float = 1e9) -> None:
        self.again = again

    def __call__(self, now: datetime) -> Progress:
        after = (now - EPOCH).total_seconds()
        if after >= self.again:
            return well(now)
        phase, since = after % 92, now - timedelta(seconds=after % 92)
        if phase >= 90:
            return Progress(SourceState.CONNECTING, looked=now)
        polled = EPOCH if after < 90 else None
        return Progress(SourceState.JOINED, {PLACE: PartitionProgress(5, 5, polled, since=since)}, looked=now)


def test_a_client_that_is_built_anew_is_no_proof_that_reading_goes_on():
    found = watched(Silent(), 600)
    first = next(index for index, one in enumerate(found) if one)
    assert all(found[first:])
    assert {one.since for one in found if one} == {found[first].since}


def test_it_is_over_once_the_broker_has_answered():
    found = watched(Silent(again=300), 310)
    assert found[299] is not None
    assert found[300] is None


def test_a_client_that_is_built_anew_each_half_minute_does_not_put_it_off():
    def seen(now):
        after = (now - EPOCH).seconds % 30
        if after >= 25:
            return Progress(SourceState.CONNECTING, looked=now)
        since = now - after * SECOND
        return Progress(SourceState.JOINED, {PLACE: PartitionProgress(5, None, None, since)}, looked=now)

    assert any(watched(seen, 62))


def test_a_stopped_line_says_nothing_of_the_broker():
    def stopped(now):
        if now < EPOCH + 10 * SECOND:
            return Progress(SourceState.CONNECTING, looked=now)
        known = PartitionProgress(5, 9, None, now, held=True)
        return Progress(SourceState.JOINED, {PLACE: known}, looked=now)

    assert not any(watched(stopped, 100))
