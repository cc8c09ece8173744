from __future__ import annotations

from alerts.case import Case
from detectors.conversation import Conversation
from monitor.recent import RecentCases
from monitor.store.work import CaseWrite
from tests.support.builders import at


def write(key: str, *, waits: bool = False, version: int = 1) -> CaseWrite:
    return CaseWrite(Case(Conversation(key), version=version), ("t", 0), at(60) if waits else None)


def keys(recent: RecentCases) -> set[str]:
    return {one.case.conversation.key for one in recent}


def test_the_oldest_goes_where_all_are_alike() -> None:
    recent = RecentCases(2)
    for key in "abc":
        recent.keep(write(key))
    assert keys(recent) == {"b", "c"}


def test_one_that_waits_outlasts_any_number_of_quiet_ones() -> None:
    recent = RecentCases(3)
    recent.keep(write("waits", waits=True))
    for number in range(1_000):
        recent.keep(write(f"quiet {number}"))
    assert keys(recent) == {"waits", "quiet 998", "quiet 999"}
    assert [one.case.conversation.key for one in recent.waiting()] == ["waits"]


def test_nothing_grows_without_end_even_if_all_of_them_wait() -> None:
    recent = RecentCases(2)
    for key in "abc":
        recent.keep(write(key, waits=True))
    assert keys(recent) == {"b", "c"}


def test_the_newest_state_stands_and_one_that_waits_no_longer_is_quiet() -> None:
    recent = RecentCases(2)
    recent.keep(write("a", waits=True))
    recent.keep(write("a", version=2))
    found = recent.get("a")
    assert found is not None
    assert found.case.version == 2
    assert keys(recent) == {"a"}
    recent.keep(write("b", waits=True))
    recent.keep(write("c", waits=True))
    assert recent.get("a") is None


def test_nothing_is_left_of_one_that_is_forgotten() -> None:
    recent = RecentCases(4)
    recent.keep(write("quiet"))
    recent.keep(write("waits", waits=True))
    for key in ("quiet", "waits", "unknown"):
        recent.forget(key)
    assert keys(recent) == set()
