from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from alerts.escalation import Links, Routing, dedup_key, notifications
from alerts.incident import Incident, Notify
from alerts.page import Kind
from alerts.policy import Policy, Step
from detectors.finding import Level, Outcome
from tests.support.builders import at
from tests.support.casework import POLICY

ROUTING = Routing(
    channels=("pagerduty", "webhook", "console"),
    people={"anna": ("sms-anna", "webhook"), "ben": ("pagerduty",)},
    tickets=("mail",),
)
LINKS = Links("https://x/i/{}".format, "https://x/ack/{}".format, "https://x/run.md")
INCIDENT = Incident(
    "jz-c-1", "c", 1, at(0), at(1), level=Level.PLAN_INTENT, outcome=Outcome.UNHANDLED, escalate_at=at(301)
)
PAGE = Notify(Kind.PAGE, "unhandled")


def rows(effect: Notify, policy: Policy = POLICY, routing: Routing = ROUTING):
    return notifications(INCIDENT, effect, at(5), policy, routing, LINKS)


def targets(effect: Notify, policy: Policy = POLICY) -> list[str]:
    return [row.id.rsplit(":", 1)[1] for row in rows(effect, policy)]


def test_the_first_step_rings_its_people_over_their_channels_and_then_over_every_other():
    (row,) = rows(PAGE)
    assert row.delivery.route == ("sms-anna", "webhook", "pagerduty", "console")


def test_a_target_that_is_no_person_is_a_channel():
    assert ROUTING.route("webhook") == ("webhook", "pagerduty", "console")


def test_steps_follow_each_other_and_begin_again():
    assert [targets(replace(PAGE, step=step)) for step in range(4)] == [
        ["anna"],
        ["ben", "team"],
        ["anna"],
        ["ben", "team"],
    ]


def test_a_repeat_says_how_long_the_step_before_went_unanswered():
    policy = Policy(steps=(Step(("a",), timedelta(minutes=5)), Step(("b",), timedelta(minutes=30))))
    waited = []
    for step in range(4):
        effect = Notify(Kind.PAGE, "nobody_acknowledged", step)
        [note] = notifications(INCIDENT, effect, at(0), policy, ROUTING, LINKS)
        waited.append(note.page.waited)
    assert waited == [0, 300, 1800, 300]


def test_without_steps_the_most_trusted_channel_rings():
    assert targets(PAGE, Policy()) == ["pagerduty"]


def test_a_ticket_goes_where_tickets_are_read_and_is_resolved_there():
    ticket = Notify(Kind.TICKET, "incomplete", alert="t")
    assert targets(ticket) == targets(replace(ticket, kind=Kind.RESOLVE)) == ["mail"]


def test_whoever_may_have_been_rung_is_told_that_it_is_in_hand_over_their_own_channels():
    told = rows(Notify(Kind.ACKNOWLEDGE, "acknowledged"))
    assert [row.delivery.route for row in told] == [("sms-anna", "webhook"), ("pagerduty",), ("team",)]


def test_an_update_of_a_page_without_steps_goes_where_the_page_went():
    assert targets(Notify(Kind.RESOLVE, "resolved"), Policy()) == ["pagerduty"]


def test_one_key_an_incident_but_for_a_rise_and_a_ticket():
    assert dedup_key(INCIDENT, PAGE) == dedup_key(INCIDENT, replace(PAGE, step=3)) == "jz-c-1"
    assert dedup_key(INCIDENT, replace(PAGE, alert="r9")) == "jz-c-1-r9"


def test_ids_say_what_is_told_to_whom_so_that_it_is_written_once():
    assert [row.id for row in rows(replace(PAGE, step=1))] == ["jz-c-1:page:1:ben", "jz-c-1:page:1:team"]
    assert rows(PAGE) == rows(PAGE)


def test_ids_differ_by_alert_kind_step_and_target():
    effects = [
        PAGE,
        replace(PAGE, step=1),
        replace(PAGE, step=2),
        replace(PAGE, alert="r9"),
        Notify(Kind.ACKNOWLEDGE, "acknowledged"),
        Notify(Kind.RESOLVE, "resolved"),
        Notify(Kind.RESOLVE, "resolved", alert="t"),
    ]
    ids = [row.id for effect in effects for row in rows(effect)]
    assert len(ids) == len(set(ids))


def test_a_page_says_since_when_until_when_and_what_to_do():
    page = rows(replace(PAGE, missing=("refers",)))[0].page
    assert (page.since, page.deadline, page.escalates_at) == (at(1), at(31), at(301))
    assert (page.level, page.outcome, page.missing) == ("plan_intent", "unhandled", ("refers",))
    assert page.link == "https://x/i/jz-c-1"
    assert page.ack_link == "https://x/ack/jz-c-1"
    assert page.runbook == "https://x/run.md"


def test_only_a_page_asks_to_be_acknowledged():
    page = rows(Notify(Kind.RESOLVE, "resolved"))[0].page
    assert (page.ack_link, page.escalates_at) == (None, None)
