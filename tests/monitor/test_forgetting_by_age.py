"""What is older than records are kept is forgotten by itself; whoever is being rung for stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.incident import Incident, State
from monitor.store.work import CaseWrite, Work
from tests.support.fake_clock import FakeClock
from tests.support.forgetting import DAYS, Site
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


async def test_cases_of_a_release_that_kept_no_time_count_from_now(site):
    await site.say("c", ("hello", "chat"))
    site.run("UPDATE cases SET touched_at = NULL")
    await site.forgetting.age()
    assert site.traces("c") == ["cases"]
    site.clock.jump(DAYS + timedelta(days=1))
    await site.forgetting.age()
    assert site.traces("c") == []
