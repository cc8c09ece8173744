"""Whoever is to be forgotten is gone from every table; who is being rung for stays until somebody has answered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from alerts.case import Case
from alerts.delivery import Answer, Attempt, RetryPolicy, abandoned, answered, outlived, started
from alerts.incident import Incident, State
from detectors.conversation import Conversation
from monitor.crypto.pseudonym import Kind
from monitor.errors import CaseConflict
from monitor.forgetting import Forgetting
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
TELLING = 8


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
            undone=lambda oldest: setattr(self, "undone", oldest),
            unreadable=lambda rows: setattr(self, "unreadable", self.unreadable + rows),
            telling=TELLING,
        )
        self.undone: timedelta | None = None
        self.unreadable = 0

    async def say(self, conversation: str, *pairs: tuple[str, str], who: str = "somebody") -> None:
        """Exchanges, each a second after the other, now."""
        for said, replied in pairs:
            second = (self.clock.now() - FakeClock().now()).total_seconds()
            await self.worker.read(
                user(conversation, said, second, user_ref=who),
                reply(conversation, replied, second + 0.5, user_ref=who),
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

    async def lay(self, pseudonym: str) -> str:
        """Bury by what a conversation is called here."""
        now = self.clock.now()
        [proof] = await self.erasing.bury([Burial(pseudonym, "conversation", now, now + DAYS, "li")])
        return proof

    async def taken(self, conversation: str) -> None:
        """Somebody was let down, rung for and taken in hand."""
        await self.say(conversation, ("crisis|words", "sleep tip|words"))
        await self.deliver()
        await self.worker.people.acknowledge(incident_of(conversation), "li")
        await self.deliver()

    async def keep(self, state: State, count: int) -> None:
        """Conversations whose keys are numbers, each with an incident."""
        now = self.clock.now()
        some = [
            Incident(f"jz-{number:020x}-1", f"{number:032x}", 1, now, now, state=state, rung=(5,))
            for number in range(count)
        ]
        await self.store.commit(
            Work(
                cases=[
                    CaseWrite(Case(Conversation(one.conversation), one), ("turns", 0), None) for one in some
                ],
                incidents=some,
            )
        )

    async def tell(self) -> None:
        await self.forgetting.tell()

    async def give_up(self) -> None:
        """As the relay does with an update that nobody needs any more."""
        for note in await self.store.claim(self.clock.now(), timedelta(0), 99):
            if outlived(note.page.kind, self.clock.now() - note.created_at, RetryPolicy()):
                await self.store.record(note.id, abandoned(note.delivery, "outlived"))

    async def sweep(self, seconds: float = 0) -> None:
        await self.forgetting.sweep()
        self.clock.jump(timedelta(seconds=seconds))

    async def deliver(self) -> None:
        for note in await self.store.claim(self.clock.now(), timedelta(seconds=1), 99):
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
