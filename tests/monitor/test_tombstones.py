"""Who is to be forgotten stays so for a while, and the proof says when it was done, and not before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.crypto.pseudonym import Kind
from tests.support.forgetting import DAYS, Site
from tests.support.worker import incident_of


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_any_number_may_be_forgotten_at_once(sqlite_url):
    """More than a statement takes values."""
    site = Site(sqlite_url)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
    until = int((site.clock.now() + DAYS).timestamp() * 1_000_000)
    site.run(f"{many} INSERT INTO tombstones SELECT printf('%032x', i), 'e' || i, {until} FROM n")
    site.run(f"{many} INSERT INTO erasures SELECT 'e' || i, 0, NULL, 'user', 'li', '{{}}' FROM n")
    await site.say("c", ("hello", "chat"))
    await site.bury("c")
    await site.sweep()
    assert site.traces("c") == []
    assert site.run("SELECT count(*) FROM erasures WHERE done_at IS NULL") == [(0,)]
    await site.store.close()


async def test_who_is_being_forgotten_already_keeps_the_proof(site):
    await site.say("c", ("crisis|words", "sleep tip"))
    first = await site.bury("c", days=1)
    site.clock.jump(timedelta(days=2))
    await site.sweep()
    assert await site.bury("c", days=1) == first, "nobody has answered yet: the stone stands beyond its time"
    await site.tell()
    assert site.undone == timedelta(days=2)
    await site.deliver()
    await site.worker.people.acknowledge(incident_of("c"), "li")
    site.clock.jump(timedelta(hours=1))
    for _ in range(2):
        await site.deliver()
        await site.sweep()
    assert site.traces("c") == []
    assert site.proof(first)[0] is not None
    await site.tell()
    assert site.undone == timedelta(0)
    assert await site.bury("c") != first


async def test_an_erasure_is_not_done_while_a_stone_that_is_older_names_the_same_conversation(site):
    await site.say("c", ("hello", "chat"), who="u-1")
    await site.bury("u-1", Kind.USER)
    await site.sweep()
    await site.say("c", ("crisis", "sleep tip"), who="u-1")
    second = await site.bury("u-1", Kind.USER)
    await site.sweep()
    assert site.proof(second)[0] is None


async def test_what_still_arrives_is_judged_and_goes_in_the_next_round(site):
    await site.say("c", ("hello", "chat"))
    await site.bury("c")
    await site.sweep()
    await site.say("c", ("hello", "chat"))
    assert site.traces("c") == ["cases"]
    await site.sweep()
    assert site.traces("c") == []
    await site.say("c", ("crisis", "sleep tip"))
    assert (await site.store.incident(incident_of("c"))).state.value == "paging", "an erasure hides no crisis"


async def test_a_tombstone_is_let_go_of_and_the_proof_stays(site):
    await site.say("c", ("hello", "chat"))
    proof = await site.bury("c", days=1)
    await site.sweep()
    site.clock.jump(timedelta(days=2))
    await site.sweep()
    assert site.run("SELECT * FROM tombstones") == []
    assert site.proof(proof)[1] == "conversation"
    await site.say("c", ("hello", "chat"))
    await site.sweep()
    assert site.traces("c") == ["cases"]


async def test_one_that_is_written_in_the_same_moment_comes_in_the_next_round(site):
    await site.say("c", ("hello", "chat"))
    await site.bury("c")
    erase = site.erasing.erase

    async def late(standing):
        await site.say("c", ("hello", "chat"))
        site.erasing.erase = erase
        return await erase(standing)

    site.erasing.erase = late
    await site.sweep()
    assert site.traces("c") == ["cases"]
    await site.sweep()
    assert site.traces("c") == []
