"""What holds for an incident whatever happens to it."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from alerts.escalation import Links, Routing, notifications
from alerts.gravity import gravity
from alerts.incident import (
    Acknowledged,
    CrisisSeen,
    HumanTookOver,
    Incident,
    Notify,
    Resolved,
    Settled,
    State,
    Superseded,
    Ticked,
    transition,
)
from alerts.page import Kind
from alerts.policy import Disposition
from detectors.finding import CRISIS_LEVELS, Outcome
from tests.support.builders import START
from tests.support.casework import POLICY

ROUTING = Routing(("pager", "console"))
NO_LINKS = Links(lambda _: None, lambda _: None)
levels = st.sampled_from(CRISIS_LEVELS)
outcomes = st.sampled_from(list(Outcome))


class IncidentMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.incident = Incident("jz-c-1", "c", 1, START, START)
        self.rung: list[int] = []
        self.ids: list[str] = []
        self.keys: dict[Kind, set[str]] = {kind: set() for kind in Kind}

    def happen(self, event) -> list[Notify]:
        before, self.incident = self.incident, transition(self.incident, event, self.now, POLICY).incident
        done = transition(before, event, self.now, POLICY)
        told = [effect for effect in done.effects if isinstance(effect, Notify)]
        for effect in told:
            for row in notifications(self.incident, effect, self.now, POLICY, ROUTING, NO_LINKS):
                if effect.kind is not Kind.ACKNOWLEDGE:  # one that is acknowledged twice is told once
                    self.ids.append(row.id)
                self.keys[effect.kind].add(row.page.dedup_key)
            if effect.kind is Kind.PAGE and effect.step == 0:
                assert self.incident.rank > max(self.rung, default=0), "rang twice for the same gravity"
                self.rung.append(self.incident.rank)
        if before.state.over:
            assert (self.incident, told) == (before, [])
        return told

    @rule(level=levels, score=st.floats(0, 1))
    def a_crisis_turn(self, level, score):
        before = self.incident
        told = self.happen(CrisisSeen(level, score, self.now))
        if before.rank and not before.state.over and gravity(level, None) > before.rank:
            assert [effect.kind for effect in told] == [Kind.PAGE], "a rise in severity rings at once"

    @rule(level=levels, outcome=outcomes, distress=st.floats(0, 1))
    def a_verdict(self, level, outcome, distress):
        before, disposition = self.incident, POLICY.disposition(level, outcome, distress)
        told = self.happen(Settled(level, outcome, disposition, "r", "production"))
        if disposition is Disposition.PAGE and not before.state.over:
            assert self.incident.rank >= gravity(level, outcome)
            assert bool(told) is (gravity(level, outcome) > before.rank)

    @rule(seconds=st.integers(0, 1200), quiet=st.booleans())
    def time_passes(self, seconds, quiet):
        before = self.incident
        self.now += timedelta(seconds=seconds)
        told = self.happen(Ticked(quiet))
        if before.state is not State.PAGING:
            assert told == [], "time alone rings only while nobody has answered"

    @rule()
    def a_person_acknowledges(self):
        self.happen(Acknowledged("anna"))
        assert self.incident.escalate_at is None

    @rule()
    def a_human_agent_takes_over(self):
        self.happen(HumanTookOver(self.now))
        assert self.incident.state is not State.PAGING

    @rule()
    def a_new_episode_begins(self):
        self.happen(Superseded())

    @rule(sure=st.integers(0, 4))
    def a_person_resolves(self, sure):
        if sure == 0:
            self.happen(Resolved("anna"))
            for key in self.keys[Kind.PAGE] | self.keys[Kind.TICKET]:
                assert key in self.keys[Kind.RESOLVE] or self.incident.state is State.CLOSED

    @invariant()
    def what_rings_escalates_and_nothing_else_does(self):
        assert (self.incident.escalate_at is not None) is (self.incident.state is State.PAGING)

    @invariant()
    def whoever_was_rung_for_is_never_closed_by_time(self):
        assert not (self.incident.state is State.CLOSED and (self.incident.rung or self.incident.ticketed_at))

    @invariant()
    def nothing_is_told_twice(self):
        assert len(self.ids) == len(set(self.ids))


TestIncidentMachine = IncidentMachine.TestCase
TestIncidentMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
