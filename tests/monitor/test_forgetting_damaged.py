"""One row that cannot be read stops nobody's erasure: what is damaged goes, too, and is told of."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from alerts.incident import State
from monitor.crypto.pseudonym import Kind
from tests.support.forgetting import DAYS, Site
from tests.support.worker import hidden, incident_of, user

BROKEN = '{"v":1,"bo'
LATER = '{"v":9,"body":{}}'
TOLD = "unreadable_rows_forgotten"


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


def damage(site: Site, table: str, conversation: str, body: str = BROKEN, *, ordinal: int = 1) -> None:
    mine = f"key = '{incident_of(conversation, ordinal)}'"
    where = mine if table == "incidents" else f"conversation = '{hidden(conversation)}'"
    # a colon would name a parameter
    site.run(f"UPDATE {table} SET body = '{body}' WHERE {where}".replace(":", "\\:"))


def told(logged: list) -> list[int]:
    return [entry["rows"] for entry in logged if entry["event"] == TOLD]


def closing(site: Site) -> set[str]:
    """Incidents that pagers are told are over."""
    return {row[0] for row in site.run("SELECT incident FROM outbox WHERE id LIKE '%:resolve:%'")}


async def in_hand(site: Site, conversation: str) -> None:
    await site.taken(conversation)
    site.clock.jump(timedelta(hours=1))


@pytest.mark.parametrize("kind", [Kind.CONVERSATION, Kind.USER])
async def test_a_damaged_case_goes_with_the_others_and_is_told_of(site, kind):
    for name in ("bad", "d", "e"):
        await site.say(name, ("hello", "chat"), who="u-1")
    damage(site, "cases", "bad")
    if kind is Kind.USER:
        proof = await site.bury("u-1", kind)
    else:
        proof = await site.bury("bad")
        for name in ("d", "e"):
            await site.bury(name)
    with capture_logs() as logged:
        await site.sweep()
        await site.sweep()
    assert [site.traces(name) for name in ("bad", "d", "e")] == [[], [], []]
    assert site.proof(proof)[0] is not None
    assert told(logged) == [1]
    assert site.unreadable == 1
    assert hidden("bad")[:20] not in str(logged)


@pytest.mark.parametrize("table", ["cases", "incidents"])
async def test_what_stands_open_at_a_pager_is_closed_there_before_it_goes(site, table):
    for name in ("bad", "d"):
        await in_hand(site, name)
        await site.bury(name)
    damage(site, table, "bad")
    await site.sweep()
    assert closing(site) == {incident_of("bad"), incident_of("d")}
    await site.deliver()
    await site.sweep()
    assert site.traces("bad") == site.traces("d") == []


async def test_where_both_are_damaged_another_rings_and_all_goes_once_it_is_in_hand(site):
    await in_hand(site, "bad")
    damage(site, "cases", "bad")
    damage(site, "incidents", "bad")
    await site.bury("bad")
    await site.sweep()
    assert (await site.store.incident(incident_of("bad", 2))).state is State.PAGING
    await site.worker.people.acknowledge(incident_of("bad", 2), "li")
    site.clock.jump(timedelta(hours=1))
    for _ in range(3):
        await site.deliver()
        await site.sweep()
    assert site.traces("bad") == []


async def test_an_incident_that_was_left_behind_and_is_damaged_is_closed_there_too(site):
    await in_hand(site, "bad")
    await site.say("bad", ("crisis", "sleep tip"))
    await site.deliver()
    await site.worker.people.acknowledge(incident_of("bad", 2), "li")
    site.clock.jump(timedelta(hours=1))
    damage(site, "incidents", "bad")
    await site.bury("bad")
    await site.sweep()
    assert closing(site) == {incident_of("bad"), incident_of("bad", 2)}
    await site.deliver()
    await site.sweep()
    assert site.traces("bad") == []


@pytest.mark.parametrize("table", ["cases", "incidents"])
async def test_who_is_being_rung_for_stays_though_a_row_is_damaged(site, table):
    await site.say("bad", ("crisis|words", "sleep tip|words"))
    damage(site, table, "bad")
    await site.bury("bad")
    await site.sweep()
    assert (await site.store.incident(incident_of("bad"))).state is State.PAGING
    assert "excerpts" not in site.traces("bad")


async def test_who_waits_for_a_verdict_that_cannot_come_any_more_is_rung_for_first(site):
    await site.worker.read(user("bad", "crisis", 0))
    damage(site, "cases", "bad")
    await site.bury("bad")
    await site.sweep(61)
    assert await site.worker.timers.fire(site.clock.now()) == 1
    assert (await site.store.incident(incident_of("bad"))).state is State.PAGING


async def test_what_a_later_release_wrote_is_left_to_it_and_told_of(site):
    for name in ("later", "d"):
        await site.say(name, ("hello", "chat"))
        await site.bury(name)
    damage(site, "cases", "later", LATER)
    with capture_logs() as logged:
        swept = await site.forgetting.sweep()
    assert (swept.held, site.traces("d")) == (1, [])
    assert site.traces("later") == ["cases"]
    assert ("erasing_rows_unreadable", 1) in [
        (entry["event"], entry.get("conversations")) for entry in logged
    ]
    assert told(logged) == []


async def test_damaged_rows_age_like_others(site):
    for name in ("bad", "d"):
        await site.say(name, ("crisis", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    damage(site, "cases", "bad")
    damage(site, "incidents", "bad")
    site.clock.jump(DAYS + timedelta(days=1))
    with capture_logs() as logged:
        await site.forgetting.age()
    assert site.traces("bad") == site.traces("d") == []
    assert told(logged) == [2]


async def test_damaged_incidents_of_whoever_talks_on_age_too(site):
    await site.say("bad", ("crisis", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    damage(site, "incidents", "bad")
    site.clock.jump(DAYS + timedelta(days=1))
    await site.say("bad", ("hello", "chat"))
    with capture_logs() as logged:
        await site.forgetting.age()
    assert site.run("SELECT 1 FROM incidents") == []
    assert site.traces("bad") == ["cases"]
    assert told(logged) == [1]
