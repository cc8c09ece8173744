"""What is older than records are kept is forgotten by itself; whoever is being rung for stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.incident import Incident, State
from alerts.page import Kind
from monitor.store.work import CaseWrite, Work
from tests.support.fake_clock import FakeClock
from tests.support.forgetting import DAYS, Site
from tests.support.pages import a_notification
from tests.support.worker import hidden, incident_of


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_what_is_old_is_forgotten_by_itself(site):
    await site.say("old", ("crisis|words", "good"), ("troubled", "chat"))
    await site.say("answered", ("crisis|words", "sleep tip"))
    await site.say("rung", ("crisis|words", "sleep tip"))
    await site.say("lives on", ("crisis", "good"))
    await site.deliver()
    await site.worker.people.acknowledge(incident_of("answered"), "li")
    site.clock.jump(timedelta(hours=1))
    for _ in range(3):
        await site.worker.timers.fire(site.clock.now())
    site.clock.jump(DAYS)
    await site.say("lives on", ("hello", "chat"))
    await site.deliver()
    await site.forgetting.age()
    await site.deliver()
    await site.forgetting.age()
    assert site.traces("old") == []
    assert site.traces("answered") == [], "closed at the pager, then forgotten"
    assert set(site.traces("rung")) >= {"cases", "incidents", "audit", "outbox"}, "nobody has answered"
    assert site.traces("lives on") == ["cases"]
    assert site.run("SELECT 1 FROM findings WHERE incident IS NULL") == []


async def test_those_who_stay_hold_up_nobody(site):
    """More than are looked at at once are not to be forgotten yet: what comes after them is."""
    await site.say("old", ("hello", "chat"))
    case = (await site.store.cases([hidden("old")]))[hidden("old")]
    held = [
        CaseWrite(
            replace(
                case, conversation=replace(case.conversation, key=f"{n:032x}"), version=0, incident=ringing(n)
            ),
            ("turns", 0),
            None,
        )
        for n in range(90)
    ]
    await site.store.commit(Work(cases=held))
    site.run("UPDATE cases SET touched_at = touched_at - 1 WHERE conversation LIKE '00000%'")
    site.clock.jump(DAYS + timedelta(days=1))
    await site.forgetting.age()
    assert site.traces("old") == []
    assert len(site.run("SELECT 1 FROM cases")) == 90


def ringing(number: int) -> Incident:
    now = FakeClock().now()
    return Incident(f"jz-{number}-1", f"{number:032x}", 1, now, now, state=State.PAGING, rung=(5,))


@pytest.mark.parametrize("stay", ["of a later release", "waiting for a pager"])
async def test_closed_incidents_that_stay_hold_up_nobody_elses(site, stay):
    """More than are looked at at once are in front of one that may go, whose conversation goes on."""
    await site.keep(State.CLOSED, 90)
    if stay == "of a later release":
        site.run("""UPDATE incidents SET body = '{"v"\\:9}'""")
    else:
        waiting = [
            a_notification(f"jz-{n:020x}-1:resolve:0:li", incident=f"jz-{n:020x}-1", kind=Kind.RESOLVE)
            for n in range(90)
        ]
        await site.store.commit(Work(notifications=waiting))
    site.clock.jump(timedelta(hours=1))
    await site.say("talks on", ("crisis", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    site.clock.jump(DAYS + timedelta(days=1))
    await site.say("talks on", ("hello", "chat"))
    await site.forgetting.age()
    assert site.traces("talks on") == ["cases"]
    assert len(site.run("SELECT 1 FROM incidents")) == 90


async def test_cases_of_a_release_that_kept_no_time_count_from_now(site):
    await site.say("c", ("hello", "chat"))
    site.run("UPDATE cases SET touched_at = NULL")
    await site.forgetting.age()
    assert site.traces("c") == ["cases"]
    site.clock.jump(DAYS + timedelta(days=1))
    await site.forgetting.age()
    assert site.traces("c") == []
