from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.sources.backoff import Backoff
from monitor.sources.progress import PartitionProgress, Progress, SourceState

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PLACE = ("t", 0)


def known(position: int = 0, end: int | None = 0, *, polled: int | None = 0, held: bool = False) -> Progress:
    """``polled``: seconds ago."""
    answered = None if polled is None else NOW - timedelta(seconds=polled)
    part = PartitionProgress(position, end, answered, since=NOW - timedelta(seconds=90), held=held)
    return Progress(SourceState.JOINED, {PLACE: part})


@pytest.mark.parametrize(("position", "end", "lag"), [(5, 9, 4), (9, 9, 0), (9, 5, 0), (5, None, None)])
def test_lag(position: int, end: int | None, lag: int | None) -> None:
    progress = known(position, end)
    assert progress.partitions[PLACE].lag == lag
    assert progress.caught_up(PLACE) == (lag == 0)


def test_nothing_is_caught_up_in_a_partition_of_somebody_else() -> None:
    assert not known().caught_up(("t", 1))


@pytest.mark.parametrize(("polled", "silent"), [(0, False), (60, False), (61, True), (None, True)])
def test_silence(polled: int | None, *, silent: bool) -> None:
    assert known(polled=polled).silent(NOW, MINUTE) == (frozenset({PLACE}) if silent else frozenset())


def test_a_held_partition_is_not_silent() -> None:
    assert known(polled=None, held=True).silent(NOW, MINUTE) == frozenset()


@pytest.mark.parametrize(
    ("handling", "done", "silent"),
    [(True, None, False), (False, 59, False), (False, 61, True), (False, None, True)],
)
def test_what_waits_in_the_client_while_we_are_busy_is_not_the_brokers_silence(
    handling: bool, done: int | None, silent: bool
) -> None:
    part = PartitionProgress(0, 9, NOW - 2 * MINUTE, since=NOW - 3 * MINUTE, unread=True)
    progress = Progress(
        SourceState.JOINED,
        {PLACE: part},
        handling_since=NOW if handling else None,
        last_done=None if done is None else NOW - timedelta(seconds=done),
    )
    assert bool(progress.silent(NOW, MINUTE)) is silent


def test_a_partition_in_hand_is_not_silent() -> None:
    part = PartitionProgress(0, 9, NOW - 2 * MINUTE, since=NOW - 3 * MINUTE, in_hand=True)
    assert Progress(SourceState.JOINED, {PLACE: part}).silent(NOW, MINUTE) == frozenset()


def test_silence_counts_from_where_reading_began() -> None:
    part = PartitionProgress(0, None, NOW - timedelta(hours=1), since=NOW - timedelta(seconds=59))
    assert Progress(SourceState.JOINED, {PLACE: part}).silent(NOW, MINUTE) == frozenset()


def test_backoff_doubles_up_to_its_bound_and_never_gives_up() -> None:
    backoff = Backoff(first=0.2, longest=30)
    assert [backoff.wait(failures) for failures in (1, 2, 3)] == [0.2, 0.4, 0.8]
    assert backoff.wait(9) == 30
    assert backoff.wait(10**9) == 30
