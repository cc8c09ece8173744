"""Who publishes: each decision, and that no interleaving of looks, deaths, pauses, cuts and clocks elects two."""

from __future__ import annotations

import contextlib
from collections.abc import Coroutine, Generator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from monitor.errors import StoreUnavailable
from monitor.publisher import Publisher
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.tally.cell import Tally, Where, hour_of
from monitor.tally.codec import tally_of_json, tally_to_json
from monitor.tally.election import LEASE, MARGIN, SHOWN, Lease, Reason, Watched, decide
from tests.support.cases import NOW, SECOND

NEVER = timedelta(0)
HELD = Lease(3, "other", NOW + 5 * SECOND)
HERE = Where("production", "7.2", "en", "none", "live")


@pytest.mark.parametrize(
    ("seen", "unchanged", "reason", "term"),
    [
        (None, NEVER, Reason.NOBODY_YET, 1),
        (Lease(3, "me", NOW + LEASE), NEVER, Reason.MINE, 3),
        (Lease(3, "me", NOW - LEASE), NEVER, Reason.MINE, 3),
        (Lease(3, "", NOW + LEASE), NEVER, Reason.GIVEN_UP, 4),
        (HELD, 2 * LEASE, Reason.HELD, None),
        (Lease(3, "other", NOW - SECOND), LEASE - SECOND, Reason.JUST_SEEN, None),
        (Lease(3, "other", NOW), LEASE, Reason.OVER, 4),
        (Lease(3, "other", NOW + 2 * LEASE), LEASE, Reason.OVER, 4),  # no clock that is right gives so much
    ],
)
def test_each_decision_has_its_reason(seen, unchanged, reason, term):
    decision = decide(seen, "me", NOW, unchanged)
    assert decision.reason is reason
    assert decision.ask == (None if term is None else Lease(term, "me", NOW + LEASE))


def test_figures_go_before_anybody_else_may_be_elected():
    assert SHOWN + MARGIN <= LEASE


def test_a_lease_stands_unchanged_from_the_first_answer_to_the_last_question():
    watched = Watched()
    assert watched.saw(HELD, 1.0, 4.0) == NEVER
    assert watched.saw(HELD, 9.0, 9.5) == 5 * SECOND
    assert watched.saw(Lease(3, "other", NOW), 20.0, 20.5) == NEVER


class _Step:
    """One point at which anything else may happen first."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class _Cable:
    """Tallies at the end of a line that may be cut on the way there, or on the way back."""

    def __init__(self, tallies: MemoryTallies) -> None:
        self._tallies = tallies
        self.there = self.back = True

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._tallies, name)

        async def carried(*given: Any) -> Any:
            await _Step()
            if not self.there:
                raise StoreUnavailable
            answer = await operation(*given)
            await _Step()
            if not self.back:
                raise StoreUnavailable
            return answer

        return carried


class _Quiet:
    def tally_failed(self, count: int = 1) -> None:
        raise AssertionError

    def style_worked(self, seconds: float) -> None:
        """Nothing is measured here."""


class _Worker:
    """``wrong``: by how many seconds its idea of the common time is off."""

    def __init__(self, world: Elections, name: str) -> None:
        self._world = world
        self.name = name
        self.wrong = 0.0
        self.cable = _Cable(world.tallies)
        self.publisher = Publisher(
            self.cable, self, lambda: world.seconds + 7.0, name, _Quiet(), aside=_at_once
        )
        self.looking: Coroutine[Any, Any, None] | None = None

    def now(self) -> Any:
        return NOW + timedelta(seconds=self._world.seconds + self.wrong)

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError

    def step(self) -> None:
        if self.looking is None:
            self.looking = self.publisher.look()
        try:
            self.looking.send(None)
        except (StopIteration, StoreUnavailable):
            self.looking = None

    def finish(self) -> None:
        self.step()
        while self.looking is not None:
            self.step()

    def die(self) -> None:
        if self.looking is not None:
            self.looking.close()


async def _at_once(work: Any) -> Any:
    return work()


class Elections(RuleBasedStateMachine):
    """Three workers whose looks are cut into steps, which interleave as hypothesis likes."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.store = MemoryStore()
        self.tallies = MemoryTallies(self.store)
        self.born = 0
        self.tallied = 0
        self.terms: set[tuple[int, str]] = set()
        self.workers = [self._another() for _ in range(3)]

    def _another(self) -> _Worker:
        self.born += 1
        return _Worker(self, f"w{self.born}")

    @rule(place=st.integers(0, 2), steps=st.sampled_from([1, 2, 3, 5, 8, 40, 40, 40]))
    def look(self, place: int, steps: int) -> None:
        for _ in range(steps):
            self.workers[place].step()
            self._at_most_one()

    @rule(seconds=st.sampled_from([0.5, 3.0, 11.9, 15.0, 15.0, 60.0]))
    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds

    @rule(place=st.integers(0, 2))
    def kill(self, place: int) -> None:
        self.workers[place].die()
        self.workers[place] = self._another()

    @rule(order=st.permutations(range(3)), seconds=st.sampled_from([0.0, 0.0, 3.0, 15.0]))
    def all_look(self, order: list[int], seconds: float) -> None:
        """Each to the end of its look, one after the other; then time passes."""
        for place in order:
            self.workers[place].finish()
            self._at_most_one()
        self.seconds += seconds

    @rule(place=st.integers(0, 2), cut=st.sampled_from(["mended", "mended", "mended", "there", "back"]))
    def cut(self, place: int, cut: str) -> None:
        self.workers[place].cable.there, self.workers[place].cable.back = cut != "there", cut != "back"

    @rule(place=st.integers(0, 2), wrong=st.sampled_from([0.0, 0.0, 0.0, 20.0, -20.0, 3600.0, -3600.0]))
    def set_clock(self, place: int, wrong: float) -> None:
        self.workers[place].wrong = wrong

    @precondition(lambda self: self.tallied < 40)
    @rule(count=st.integers(1, 9))
    def tally(self, count: int) -> None:
        self.tallied += count
        added = Tally(hour_of(NOW))
        added.at(HERE).counts["answer:all"] = count
        self.store.tallies[len(self.store.tallies) + 1000 * self.tallied] = tally_to_json(added)

    @invariant()
    def _at_most_one(self) -> None:
        elected = [worker.name for worker in self.workers if worker.publisher.elected]
        assert len(elected) <= 1
        for worker in self.workers:
            if worker.publisher.elected:
                self.terms.add((worker.publisher._term or 0, worker.name))
        assert len({term for term, _ in self.terms}) == len(self.terms), "a term has one holder"

    @invariant()
    def nothing_is_lost_or_counted_twice(self) -> None:
        waiting = [tally_of_json(body).at(HERE).counts["answer:all"] for body in self.store.tallies.values()]
        added = [hour.cell.counts["answer:all"] for hour in _all_hours(self.tallies)]
        assert sum(waiting) + sum(added) == self.tallied

    def teardown(self) -> None:
        for worker in self.workers:
            worker.die()


def _all_hours(tallies: MemoryTallies) -> list[Any]:
    found: dict[Any, Any] = {}

    async def ask() -> None:
        rows = await tallies.since(hour_of(NOW) - 99 * timedelta(hours=1))
        found.update(await tallies.hours([place for place, _ in rows]))

    with contextlib.suppress(StopIteration):
        ask().send(None)
    return list(found.values())


TestElections = Elections.TestCase
TestElections.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
