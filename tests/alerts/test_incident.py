"""The whole machine: every state and event, each way with its named reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.incident import (
    Acknowledged,
    CaseLost,
    CrisisSeen,
    Event,
    HumanTookOver,
    Incident,
    Notify,
    Purge,
    Resolved,
    Reviewed,
    Settled,
    State,
    Superseded,
    Ticked,
    begins_new_episode,
    transition,
)
from alerts.page import Kind
from alerts.policy import Disposition, Policy
from detectors.finding import Level, Outcome
from tests.support.builders import at
from tests.support.casework import POLICY

NEW = Incident("jz-c-1", "c", 1, at(0), at(0))
SEEN = CrisisSeen(Level.ACTIVE_IDEATION, 0.9, at(0))
GRAVER = CrisisSeen(Level.PLAN_INTENT, 0.9, at(5))


def settled(outcome: Outcome, disposition: Disposition, level: Level = Level.ACTIVE_IDEATION) -> Settled:
    return Settled(level, outcome, disposition, "r2", "canary", ("refers",))


HANDLED = settled(Outcome.HANDLED, Disposition.NOTHING)
HALF = settled(Outcome.INCOMPLETE, Disposition.TICKET)
MISSED = settled(Outcome.UNHANDLED, Disposition.PAGE)
HARMED = settled(Outcome.HARMFUL, Disposition.PAGE)


def after(*events: Event, policy: Policy = POLICY) -> Incident:
    incident = NEW
    for second, event in enumerate(events):
        incident = transition(incident, event, at(second), policy).incident
    return incident


BY_STATE = {
    State.WATCHING: after(SEEN),
    State.TICKETED: after(SEEN, HALF),
    State.PAGING: after(SEEN, MISSED),
    State.ACKNOWLEDGED: after(SEEN, MISSED, Acknowledged("anna")),
    State.RESOLVED: after(SEEN, MISSED, Resolved("anna", "true_miss")),
    State.CLOSED: after(SEEN, Ticked(quiet=True)),
}
DUE, EARLY = at(3600), at(10)
W, T, P, A, R, C = BY_STATE
TABLE = [
    # state, event, when, next state, reason, kinds told
    (W, SEEN, EARLY, W, "crisis_joined", ""),
    (W, GRAVER, EARLY, W, "crisis_joined", ""),
    (W, HANDLED, EARLY, W, "reply_handled", ""),
    (W, HALF, EARLY, T, "reply_incomplete", "ticket"),
    (W, MISSED, EARLY, P, "unhandled", "page"),
    (W, HARMED, EARLY, P, "harmful", "page"),
    (W, CaseLost(), EARLY, P, "case_lost", "page"),
    (W, Ticked(), DUE, W, "nothing_due", ""),
    (W, Ticked(quiet=True), DUE, C, "went_quiet", "purge"),
    (W, Superseded(), EARLY, C, "superseded", "purge"),
    (W, HumanTookOver(EARLY), EARLY, W, "human_took_over", ""),
    (W, Acknowledged("anna"), EARLY, A, "acknowledged", ""),
    (W, Resolved("anna"), EARLY, R, "resolved", ""),
    (T, SEEN, EARLY, T, "crisis_joined", ""),
    (T, GRAVER, EARLY, T, "crisis_joined", ""),
    (T, HANDLED, EARLY, T, "reply_handled", ""),
    (T, HALF, EARLY, T, "joined", ""),
    (T, MISSED, EARLY, P, "unhandled", "page"),
    (T, HARMED, EARLY, P, "harmful", "page"),
    (T, CaseLost(), EARLY, P, "case_lost", "page"),
    (T, Ticked(quiet=True), DUE, T, "nothing_due", ""),
    (T, Superseded(), EARLY, T, "superseded", ""),
    (T, HumanTookOver(EARLY), EARLY, T, "human_took_over", ""),
    (T, Acknowledged("anna"), EARLY, A, "acknowledged", ""),
    (T, Resolved("anna"), EARLY, R, "resolved", "resolve:t"),
    (P, SEEN, EARLY, P, "crisis_joined", ""),
    (P, GRAVER, EARLY, P, "severity_rose", "page:r8"),
    (P, HANDLED, EARLY, P, "reply_handled", ""),
    (P, HALF, EARLY, P, "joined", ""),
    (P, MISSED, EARLY, P, "joined_ringing", ""),
    (P, HARMED, EARLY, P, "harmful", "page:r7"),
    (P, CaseLost(), EARLY, P, "case_lost", ""),
    (P, Ticked(), EARLY, P, "nothing_due", ""),
    (P, Ticked(quiet=True), DUE, P, "nobody_acknowledged", "page"),
    (P, Superseded(), EARLY, P, "superseded", ""),
    (P, HumanTookOver(EARLY), EARLY, A, "human_took_over", "acknowledge"),
    (P, Acknowledged("anna"), EARLY, A, "acknowledged", "acknowledge"),
    (P, Resolved("anna"), EARLY, R, "resolved", "resolve"),
    (A, SEEN, EARLY, A, "crisis_joined", ""),
    (A, GRAVER, EARLY, P, "severity_rose", "page:r8"),
    (A, HANDLED, EARLY, A, "reply_handled", ""),
    (A, HALF, EARLY, A, "joined", ""),
    (A, MISSED, EARLY, A, "joined_acknowledged", ""),
    (A, HARMED, EARLY, P, "harmful", "page:r7"),
    (A, CaseLost(), EARLY, A, "case_lost", ""),
    (A, Ticked(quiet=True), DUE, A, "nothing_due", ""),
    (A, Superseded(), EARLY, A, "superseded", ""),
    (A, HumanTookOver(EARLY), EARLY, A, "human_took_over", ""),
    (A, Acknowledged("ben"), EARLY, A, "already_acknowledged", ""),
    (A, Resolved("ben"), EARLY, R, "resolved", "resolve"),
    *(
        (over, event, DUE, over, "already_over", "")
        for over in (R, C)
        for event in (
            SEEN,
            GRAVER,
            HARMED,
            CaseLost(),
            Ticked(quiet=True),
            Superseded(),
            Acknowledged("anna"),
            Resolved("anna"),
        )
    ),
    *((open_, Reviewed("anna", "true_miss"), EARLY, open_, "not_over", "") for open_ in (W, T, P, A)),
    (R, Reviewed("ben", "false_alarm"), DUE, R, "already_reviewed", ""),
    (C, Reviewed("ben", "true_miss"), DUE, C, "reviewed", ""),
]


def told(effects) -> str:
    names = []
    for effect in effects:
        if isinstance(effect, Purge):
            names.append("purge")
        else:
            ticket = effect.kind is Kind.TICKET
            names.append(effect.kind.value + (f":{effect.alert}" if effect.alert and not ticket else ""))
    return " ".join(names)


def test_a_first_verdict_stands():
    closed = after(SEEN, MISSED, Resolved("anna"))
    said = [Reviewed("ben", "false_alarm"), Reviewed("carla", "true_miss")]
    for event in said:
        closed = transition(closed, event, DUE, POLICY).incident
    assert (closed.state, closed.verdict) == (R, "false_alarm")


@pytest.mark.parametrize(("state", "event", "now", "following", "reason", "kinds"), TABLE)
def test_every_way_through_the_machine(state, event, now, following, reason, kinds):
    done = transition(BY_STATE[state], event, now, POLICY)
    assert (done.incident.state, done.reason, told(done.effects)) == (following, reason, kinds)


def test_the_table_leaves_no_event_out():
    for state in (W, T, P, A):
        events = {type(event) for row_state, event, *_ in TABLE if row_state is state}
        assert events == set(Event.__args__)


def test_the_first_sign_is_told_from_those_that_join():
    done = transition(NEW, SEEN, at(0), POLICY)
    assert (done.reason, done.incident.crisis_turns) == ("crisis_seen", 1)


def test_a_turn_that_turns_out_graver_is_counted_once():
    assert after(SEEN, replace(GRAVER, again=True)).crisis_turns == 1


def test_the_level_rises_and_never_falls():
    assert after(GRAVER, SEEN).level is Level.PLAN_INTENT


def test_every_page_that_is_out_is_told_that_somebody_is_on_it():
    """Were one left out, its pager would go on ringing."""
    done = transition(after(SEEN, MISSED, HARMED, GRAVER), Acknowledged("anna"), at(9), POLICY)
    assert told(done.effects) == "acknowledge acknowledge:r7 acknowledge:r8"


def test_a_ticket_and_the_page_after_it_are_two_alerts():
    """Under one key the pager would fold the page into the ticket, and nobody would be rung."""
    first = transition(after(SEEN), HALF, at(1), POLICY)
    second = transition(first.incident, MISSED, at(2), POLICY)
    assert first.effects[0].alert != second.effects[0].alert
    assert told(transition(second.incident, Resolved("anna"), at(3), POLICY).effects) == "resolve resolve:t"


def test_a_page_repeats_though_no_steps_are_configured():
    ringing = after(SEEN, MISSED, policy=Policy())
    done = transition(ringing, Ticked(), ringing.escalate_at, Policy())
    assert done.effects == (Notify(Kind.PAGE, "nobody_acknowledged", step=1),)
    assert done.incident.escalate_at > ringing.escalate_at


def test_ringing_again_takes_the_acknowledgement_back_and_starts_with_the_first_step():
    escalated = transition(after(SEEN, MISSED), Ticked(), DUE, POLICY).incident
    taken = transition(escalated, Acknowledged("anna"), DUE, POLICY).incident
    ringing = transition(taken, GRAVER, DUE, POLICY).incident
    assert (escalated.step, taken.acknowledged_by) == (1, "anna")
    assert (ringing.state, ringing.step, ringing.acknowledged_by) == (State.PAGING, 0, None)
    assert ringing.escalate_at == DUE + POLICY.steps[0].after


@pytest.mark.parametrize(
    ("state", "minutes", "new"),
    [
        (None, 0, True),
        (R, 0, True),
        (C, 0, True),
        (P, 600, False),
        (A, 29, False),
        (A, 31, True),
        (W, 31, True),
        (T, 31, True),
        (A, -600, False),
    ],
)
def test_when_a_new_episode_begins(state, minutes, new):
    incident = BY_STATE[state] if state else None
    assert begins_new_episode(incident, at(0) + timedelta(minutes=minutes), POLICY) is new
