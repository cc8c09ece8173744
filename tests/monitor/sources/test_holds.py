from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from monitor.sources.holds import Holds
from monitor.store.work import Partition

A, B = ("t", 0), ("t", 1)


def test_the_last_reason_to_go_lets_it_run() -> None:
    holds = Holds()
    holds.hold("pressure", [A])
    holds.hold("person")
    assert (holds.holding(A), holds.holding(B)) == (True, True)
    holds.release("person")
    assert (holds.holding(A), holds.holding(B)) == (True, False)
    holds.release("pressure")
    assert not holds.holding(A)
    assert holds.reasons == {}


def test_releasing_what_was_never_held_is_harmless() -> None:
    holds = Holds()
    holds.release("nothing")
    holds.release("nothing", [A])
    assert holds.reasons == {}


def test_a_hold_on_all_includes_partitions_to_come() -> None:
    holds = Holds()
    holds.hold("person", [A])
    holds.hold("person")
    assert holds.holding(("other", 9))


class AgainstSets(RuleBasedStateMachine):
    """Over two partitions, ``Holds`` is a set of (reason, partition)."""

    def __init__(self) -> None:
        super().__init__()
        self.holds = Holds()
        self.model: set[tuple[str, Partition]] = set()

    reasons = st.sampled_from(["x", "y"])
    parts = st.sets(st.sampled_from([A, B]), min_size=1)

    @rule(reason=reasons, parts=parts)
    def hold(self, reason: str, parts: set[Partition]) -> None:
        self.holds.hold(reason, parts)
        self.model |= {(reason, part) for part in parts}

    @rule(reason=reasons, parts=parts)
    def release(self, reason: str, parts: set[Partition]) -> None:
        self.holds.release(reason, parts)
        self.model -= {(reason, part) for part in parts}

    @rule(reason=reasons)
    def release_all(self, reason: str) -> None:
        self.holds.release(reason)
        self.model = {held for held in self.model if held[0] != reason}

    @invariant()
    def agree(self) -> None:
        for part in (A, B):
            assert self.holds.holding(part) == any(held[1] == part for held in self.model)


TestAgainstSets = AgainstSets.TestCase
