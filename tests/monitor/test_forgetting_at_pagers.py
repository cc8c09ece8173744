"""Pagers are told that it is over before its key is forgotten, no more at once than they hear in time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.delivery import RetryPolicy
from alerts.incident import State
from monitor.forgetting import Forgetting
from tests.support.forgetting import DAYS, TELLING, Site
from tests.support.worker import incident_of


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_a_pager_that_does_not_answer_holds_up_an_erasure_until_the_relay_gives_up(site):
    await site.say("c", ("crisis|words", "half"))
    assert (await site.store.incident(incident_of("c"))).state.value == "ticketed"
    await site.bury("c")
    await site.sweep(60)
    await site.sweep(60)
    assert set(site.traces("c")) >= {"cases", "outbox"}, "its key is not made again while it stands open"
    assert "excerpts" not in site.traces("c"), "words go at once"
    site.clock.jump(RetryPolicy().update_lifetime)
    await site.give_up()
    assert site.run("SELECT 1 FROM outbox WHERE due_at IS NOT NULL") == [(1,)], "nobody took the ticket"
    await site.sweep()
    assert site.traces("c") == []


async def test_what_waits_for_its_turn_at_the_pager_is_sent_though_it_takes_long(site):
    await site.taken("c")
    await site.bury("c")
    site.clock.jump(timedelta(hours=1))
    for _ in range(30):
        await site.sweep(60)
    closing = "SELECT 1 FROM outbox WHERE id LIKE '%:resolve:%' AND due_at IS NOT NULL"
    assert site.run(closing) != []
    await site.say("c", ("crisis", "sleep tip"))
    again = await site.store.incident(incident_of("c", 2))
    assert again.state is State.PAGING, "what is still to be sent closes nothing that is new"
    await site.deliver()
    await site.sweep()
    assert (await site.store.incident(again.key)).state is State.PAGING


async def test_a_worker_that_did_not_erase_somebody_closes_what_comes_after(site):
    """Whoever talks on has an incident under the same key, which stands open at the pager like the first."""
    other = Forgetting(site.erasing, site.worker.people, site.worker.paging.policy, site.clock, keep=DAYS)
    await site.taken("c")
    await site.bury("c")
    site.clock.jump(timedelta(hours=1))
    await site.sweep()
    await other.sweep()
    await site.deliver()
    await site.sweep()
    assert site.traces("c") == []
    await site.taken("c")
    assert (await site.store.incident(incident_of("c"))).state is State.ACKNOWLEDGED
    site.clock.jump(timedelta(hours=1))
    await other.sweep()
    assert site.run("SELECT 1 FROM outbox WHERE id LIKE '%:resolve:%'") != [], "the pager is told"
    await site.deliver()
    await other.sweep()
    assert site.traces("c") == []


async def test_pagers_are_not_told_of_more_than_they_hear_in_time(site):
    await site.keep(State.ACKNOWLEDGED, TELLING + 5)
    for number in range(TELLING + 5):
        await site.lay(f"{number:032x}")
    site.clock.jump(timedelta(hours=1))
    closing = "SELECT count(DISTINCT incident) FROM outbox WHERE id LIKE '%:resolve:%'"
    for _ in range(2):
        await site.sweep(10)
        assert site.run(closing) == [(TELLING,)]
    await site.deliver()
    await site.sweep()
    assert site.run(closing) == [(5,)]
    for _ in range(2):
        await site.deliver()
        await site.sweep()
    assert site.run("SELECT 1 FROM cases") == []
