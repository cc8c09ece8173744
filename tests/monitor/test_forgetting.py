"""Whoever is to be forgotten is gone from every table; who is being rung for stays until somebody has answered."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.incident import State
from monitor.crypto.pseudonym import Kind
from monitor.errors import CaseConflict
from monitor.forgetting import Forgetting
from tests.support.forgetting import DAYS, Site
from tests.support.worker import hidden, incident_of, reply, user


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_a_conversation_is_gone_from_every_table_and_others_stay(site):
    await site.say("c", ("crisis|words", "good"), ("hello", "chat"))
    await site.say("d", ("crisis|words", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    before = site.traces("d")
    assert set(site.traces("c")) >= {"cases", "incidents", "findings", "audit"}
    proof = await site.bury("c")
    await site.sweep()
    assert site.traces("c") == []
    assert site.traces("d") == before
    done_at, kind, actor, detail = site.proof(proof)
    assert (kind, actor) == ("conversation", "li")
    assert done_at is not None
    assert '"cases":1' in detail
    assert hidden("c") not in str(site.run("SELECT * FROM erasures"))
    assert hidden("c") in site.forgotten


async def test_all_conversations_of_a_user_go(site):
    for name in ("a", "b"):
        await site.say(name, ("hello", "chat"), who="u-1")
    await site.say("c", ("hello", "chat"), who="u-2")
    await site.bury("u-1", Kind.USER)
    await site.sweep()
    assert site.traces("a") == site.traces("b") == []
    assert site.traces("c") == ["cases"]
    site.forgotten.clear()
    await site.sweep()
    assert {hidden("a"), hidden("b")} <= site.forgotten, "a worker that erased nothing forgets them, too"
    await site.worker.read(user("a", "hello", 99))
    await site.sweep()
    assert site.traces("a") == [], "what names no user goes, too"


async def test_who_is_being_rung_for_stays_until_somebody_has_answered_and_it_is_quiet(site):
    await site.say("c", ("crisis|words", "sleep tip|words"))
    key = incident_of("c")
    proof = await site.bury("c")
    await site.sweep()
    assert "excerpts" not in site.traces("c"), "words go at once"
    assert (await site.store.incident(key)).state.value == "paging"
    assert site.proof(proof)[0] is None
    assert hidden("c") not in site.forgotten, "the lifeboat rings on if the database goes away"
    await site.deliver()
    await site.worker.people.acknowledge(key, "li")
    await site.deliver()
    await site.sweep(60)
    assert (await site.store.incident(key)).state.value == "acknowledged", "the episode goes on"
    site.clock.jump(timedelta(minutes=31))
    await site.sweep()
    assert (await site.store.incident(key)).state.value == "resolved", "pagers are told first"
    await site.deliver()
    await site.sweep()
    assert site.traces("c") == []
    assert site.proof(proof)[0] is not None


async def test_the_words_of_streamed_messages_go_at_once_too_but_for_one_that_streams_just_now(site):
    """Or the end of a message would be judged without its beginning: an erasure hides no crisis."""
    await site.say("c", ("crisis|words", "sleep tip|words"))

    async def more(words: str, second: float, *, final: bool) -> None:
        await site.worker.read(reply("c", words, second, message_id="m", final=final))

    await more("half of it", 5, final=False)
    await site.bury("c")
    await site.sweep()
    assert site.run("SELECT sealed IS NULL FROM cases") in ([(0,)], [(False,)])
    assert "excerpts" not in site.traces("c")
    await more("the rest", 6, final=True)
    await site.sweep()
    assert site.run("SELECT sealed IS NULL FROM cases") in ([(1,)], [(True,)])
    assert (await site.store.incident(incident_of("c"))).state.value == "paging"


async def test_who_waits_for_a_reply_is_not_forgotten_before_the_verdict(site):
    await site.worker.read(user("c", "crisis", 0))
    await site.bury("c")
    await site.sweep(61)
    assert await site.worker.timers.fire(site.clock.now()) == 1
    assert (await site.store.incident(incident_of("c"))).state.value == "paging"


async def test_who_was_caught_is_let_go_of_at_once(site):
    await site.say("c", ("crisis|words", "good"))
    assert (await site.store.incident(incident_of("c"))).state.value == "watching"
    await site.bury("c")
    await site.sweep()
    assert site.traces("c") == []


async def test_one_that_is_written_all_the_time_holds_up_nobody_else(site):
    class Busy:
        async def resolve(self, key: str, _by: str, _verdict: str | None) -> None:
            raise CaseConflict(frozenset())

    busy = Forgetting(site.erasing, Busy(), site.worker.paging.policy, site.clock, keep=DAYS)
    await site.keep(State.TICKETED, 1)
    await site.lay(f"{0:032x}")
    await site.worker.read(user("c", "hello", 0))
    await site.bury("c")
    assert (await busy.sweep()).waiting == 1
    assert site.traces("c") == []


async def test_those_who_are_rung_for_hold_up_nobody_who_is_to_be_forgotten(site):
    await site.keep(State.PAGING, 90)
    proofs = [await site.lay(f"{number:032x}") for number in range(90)]
    names = [f"c{number}" for number in range(100)]
    for name in names:
        await site.worker.read(user(name, "hello", 0))
        proofs.append(await site.bury(name))
    swept = await site.forgetting.sweep()
    assert (swept.held, swept.waiting, swept.busy) == (90, 0, 0)
    assert len(site.run("SELECT 1 FROM cases")) == 90
    done = {row[0] for row in site.run("SELECT id FROM erasures WHERE done_at IS NOT NULL")}
    assert done == set(proofs[90:]), "done is what nothing is kept of"
    assert {hidden(name) for name in names} <= site.forgotten
    assert not {f"{number:032x}" for number in range(90)} & site.forgotten
