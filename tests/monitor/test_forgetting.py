"""Whoever is to be forgotten is gone from every table; who is being rung for stays until somebody has answered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from alerts.incident import Incident, State
from monitor.crypto.pseudonym import Kind
from monitor.forgetting import TOLD, Forgetting
from monitor.store.engine import migration_engine
from monitor.store.erasing import Burial, Erasing
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import CaseWrite, Work
from monitor.subjects import naming
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.worker import PSEUDONYMISER, Worker, hidden, incident_of, reply, user

TABLES = ("cases", "incidents", "findings", "audit", "outbox", "excerpts", "dead_letters")
DAYS = timedelta(days=30)


class Site:
    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = FakeClock()
        self.store = SqlStore(url, KEYRING)
        self.worker = Worker(self.store, self.clock)
        self.erasing = Erasing(self.store.database, KEYRING)
        self.forgotten: set[str] = set()
        self.forgetting = Forgetting(
            self.erasing,
            self.worker.people,
            self.worker.timers._paging.policy,
            self.clock,
            keep=DAYS,
            forget=self.forgotten.update,
        )

    async def say(self, conversation: str, *pairs: tuple[str, str], who: str = "somebody") -> None:
        """Exchanges, each a second after the other, now."""
        for said, answered in pairs:
            second = (self.clock.now() - FakeClock().now()).total_seconds()
            await self.worker.read(
                user(conversation, said, second, user_ref=who),
                reply(conversation, answered, second + 0.5, user_ref=who),
            )
            self.clock.jump(timedelta(seconds=4))
            await self.worker.timers.fire(self.clock.now())

    async def bury(self, name: str, kind: Kind = Kind.CONVERSATION, days: float = 7) -> str:
        now = self.clock.now()
        until = now + timedelta(days=days)
        [proof] = await self.erasing.bury(
            [Burial(PSEUDONYMISER.pseudonym(kind, name), kind.value, now, until, "li")]
        )
        return proof

    async def sweep(self, seconds: float = 0) -> None:
        await self.forgetting.sweep()
        self.clock.jump(timedelta(seconds=seconds))

    async def deliver(self) -> None:
        for note in await self.store.claim(self.clock.now(), timedelta(seconds=1), 99):
            from alerts.delivery import Answer, Attempt, RetryPolicy, answered, started

            now = self.clock.now()
            sent = answered(
                started(note.delivery, now), Attempt(Answer.ACCEPTED, "http_202"), now, RetryPolicy()
            )
            await self.store.record(note.id, sent)

    def run(self, statement: str) -> list[tuple]:
        engine = migration_engine(parse(self.url))
        with engine.begin() as connection:
            done = connection.execute(text(statement))
            rows = [tuple(row) for row in done] if done.returns_rows else []
        engine.dispose()
        return rows

    def traces(self, conversation: str) -> list[str]:
        """Tables that still know a conversation, or an incident of it."""
        key, part = hidden(conversation), hidden(conversation)[:20]
        return [
            table
            for table in TABLES
            if any(key in str(row) or part in str(row) for row in self.run(f"SELECT * FROM {table}"))
        ]

    def proof(self, proof: str) -> tuple:
        [row] = self.run(f"SELECT done_at, kind, actor, detail FROM erasures WHERE id = '{proof}'")
        return row


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


async def test_a_pager_that_never_answers_holds_up_no_erasure(site):
    await site.say("c", ("crisis|words", "half"))
    assert (await site.store.incident(incident_of("c"))).state.value == "ticketed"
    await site.bury("c")
    await site.sweep(TOLD.total_seconds() / 2)
    await site.sweep(TOLD.total_seconds())
    assert site.traces("c") != []
    await site.sweep()
    assert site.traces("c") == []


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


async def test_dead_letters_go_by_what_they_name(site):
    named = [
        b'{"conversation_id": "conv-12345", "text": 5}',
        b'{"conversation_id": "conv-12345", "te',
        '{"conversation_id": "conv-12345"'.encode("utf-16"),
    ]
    await site.worker.read(*named, b'{"conversation_id": "conv-99999", "te')
    assert await site.erasing.dead_letters(naming(["conv-12345"])) == (3, 0)
    assert await site.erasing.dead_letters(naming(["conv-12345"])) == (0, 0)
    assert len(site.run("SELECT 1 FROM dead_letters")) == 1


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


async def test_the_file_holds_nothing_either(sqlite_url):
    site = Site(sqlite_url)
    await site.say("c", ("crisis|words", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    await site.bury("c")
    await site.sweep()
    await site.erasing.scrub()
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    content = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert content.count(hidden("c").encode()) <= 2, "the tombstone and its index"
    assert f"jz-{hidden('c')[:20]}".encode() not in content
    await site.store.close()
