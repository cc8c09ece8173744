"""What does not fit together, told from the values alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from alerts.case import Case, advance
from alerts.gaps import Found, Gap, OnRecord, Trace, confirmed, due_at, gaps
from alerts.incident import State
from alerts.moment import Moment
from alerts.policy import Policy
from detectors.conversation import Conversation
from tests.support.builders import assistant, at, heard, user

POLICY = Policy()


def told(case: Case, seconds: float) -> OnRecord:
    """A case as it stands after a decision, with records that fit."""
    advanced = advance(case, Moment(at(seconds), at(seconds)), POLICY)
    incident = advanced.case.incident
    assert incident is not None
    rows = tuple(f"{incident.key}:page:{step}:first" for step in range(len(incident.rung)))
    trail = (Trace("watching"), Trace(incident.state.value, rows))
    return OnRecord(incident.key, incident, advanced.case, advanced.wake_at, trail, dict.fromkeys(rows, True))


def missed() -> OnRecord:
    turns = [user("crisis", 0), assistant("sleep tip", 1)]
    return told(Case(heard(Conversation("c"), turns, at(1))), 10)


def waiting() -> OnRecord:
    return told(Case(heard(Conversation("c"), [user("crisis", 0)], at(0))), 1)


def kinds(record: OnRecord, seconds: float = 11) -> list[Gap]:
    return [found.gap for found in gaps(record, POLICY, at(seconds), at(0))]


def test_what_fits_together_has_no_gap():
    assert missed().state == State.PAGING
    assert waiting().state == State.WATCHING
    assert kinds(missed()) == kinds(waiting()) == []


def test_each_gap_has_its_name():
    record = missed()
    other = replace(record.incident, state=State.RESOLVED)
    assert kinds(replace(record, incident=None)) == [Gap.INCIDENT_MISSING]
    assert kinds(replace(record, incident=other)) == [Gap.INCIDENT_DIFFERS, Gap.TRAIL_BROKEN]
    assert kinds(replace(record, case=None)) == [Gap.CASE_MISSING]
    assert kinds(replace(record, rows={})) == [Gap.PAGE_MISSING]
    assert kinds(replace(record, rows=dict.fromkeys(record.rows, False))) == [Gap.PAGE_NOT_DUE]
    assert kinds(replace(record, trail=record.trail[:1])) == [Gap.TRAIL_BROKEN]
    assert kinds(replace(record, trail=())) == [Gap.TRAIL_BROKEN]
    assert kinds(replace(record, wake_at=None)) == [Gap.DEADLINE_MISSING]
    assert kinds(replace(record, readable=False)) == [Gap.UNREADABLE]
    record = waiting()
    assert kinds(replace(record, wake_at=None)) == [Gap.DEADLINE_MISSING]
    assert kinds(replace(record, wake_at=at(86_400))) == [Gap.DEADLINE_LATE]
    assert kinds(record, 1_000) == [Gap.DEADLINE_OVERDUE]


def test_what_cannot_be_put_right_is_told_of_once():
    cut = replace(missed(), trail=())
    assert kinds(replace(cut, trail=(Trace("watching", gap="trail_broken"),))) == []


def test_a_row_that_is_known_to_be_lost_is_missed_no_more_until_it_is_written_again():
    record = replace(missed(), rows={})
    [found] = gaps(record, POLICY, at(11), at(0))
    lost = Trace("paging", lost=tuple(found.rows), gap="page_missing")
    assert kinds(replace(record, trail=(*record.trail, lost))) == []
    again = replace(lost, told=lost.lost)
    assert kinds(replace(record, trail=(*record.trail, again))) == [Gap.PAGE_MISSING]


def test_nobody_is_called_because_an_episode_may_be_quiet_for_less_time_now():
    record = told(Case(heard(Conversation("c"), [user("crisis", 0), assistant("good", 1)], at(1))), 10)
    assert record.state == State.WATCHING
    shorter = replace(POLICY, quiet=timedelta(minutes=2))
    assert gaps(record, shorter, at(11), at(0)) == []


def test_a_word_of_a_later_release_breaks_no_trail():
    record = missed()
    assert kinds(replace(record, trail=(*record.trail, Trace("handed_over")))) == []


def test_a_gap_counts_when_it_is_seen_twice():
    page = Found(Gap.PAGE_MISSING, "i", frozenset({"a", "b"}))
    case = Found(Gap.CASE_MISSING, "i")
    assert confirmed([page, case], [case]) == [case]
    assert confirmed([page], [Found(Gap.PAGE_MISSING, "i", frozenset({"b", "c"}))]) == [
        Found(Gap.PAGE_MISSING, "i", frozenset({"b"}))
    ]
    assert confirmed([page], [Found(Gap.PAGE_MISSING, "i", frozenset({"c"}))]) == []


@given(
    st.lists(
        st.sampled_from(["hello", "crisis", "imminent", "good", "half", "sleep tip", "harm"]),
        min_size=1,
        max_size=8,
    ),
    st.floats(0, 4_000),
)
def test_a_case_at_rest_wakes_when_it_says(said, seconds):
    """Whatever was decided, and whenever: the time that is stored is not later than the one computed anew."""
    turns = [
        user(text, 5 * n) if text in ("hello", "crisis", "imminent") else assistant(text, 5 * n)
        for n, text in enumerate(said)
    ]
    now = at(seconds)
    advanced = advance(Case(heard(Conversation("c"), turns, now)), Moment(now, now), POLICY)
    due = due_at(advanced.case, POLICY)
    assert (due is None) == (advanced.wake_at is None)
    if due is not None and advanced.wake_at is not None:
        assert advanced.wake_at <= max(due, now + timedelta(seconds=1))
