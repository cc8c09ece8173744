"""The words of streamed messages go by themselves within minutes: nobody has to go on talking, nothing is decided by it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from detectors.fold import PIECE_LIFE, PIECE_LIFE_BEHIND
from monitor.expiry import LOOK, Expiry
from monitor.store.engine import migration_engine
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from tests.support.away_store import AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.until import until
from tests.support.worker import Worker, hidden, reply, user

SECOND = timedelta(seconds=1)
ENOUGH = PIECE_LIFE + LOOK


class Site:
    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = FakeClock()
        self.store = SqlStore(url, KEYRING)
        self.worker = Worker(self.store, self.clock)
        self.expiry = Expiry(
            self.store, self.clock, timedelta(days=7), read_to_end=self.worker.reading.read_to_end
        )

    async def later(self, passed: timedelta) -> None:
        """Time passes; then the timers and the expiry have each their turn."""
        self.clock.jump(passed)
        await self.worker.timers.fire(self.clock.now())
        await self.expiry.expire_pieces()

    @property
    def second(self) -> float:
        return (self.clock.now() - FakeClock().now()).total_seconds()

    async def stream(self, said: str, *, begun: int = 0, ends: bool = True, by=reply, message="m") -> None:
        for number, piece in enumerate(said.split(" "), begun):
            final = ends and piece == said.rsplit(" ", maxsplit=1)[-1]
            await self.worker.read(
                by("c", piece, self.second, message_id=message, final=final, event_id=f"{message}-{number}")
            )
            self.clock.jump(SECOND)

    def sealed(self) -> list[bool]:
        return [row[0] is not None for row in self.run("SELECT sealed FROM cases")]

    def run(self, statement: str) -> list[tuple]:
        engine = migration_engine(parse(self.url))
        with engine.begin() as connection:
            rows = [tuple(row) for row in connection.execute(text(statement))]
        engine.dispose()
        return rows


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


@pytest.mark.parametrize("ends", [True, False])
async def test_the_last_streamed_message_of_a_conversation_leaves_no_words(site, ends):
    await site.worker.read(user("c", "hello", 0))
    await site.stream("good to hear", ends=ends)
    await site.later(timedelta(0))
    assert site.sealed() == [True]
    await site.later(timedelta(minutes=3))
    assert site.sealed() == [False]


async def test_nothing_else_comes_of_it(site):
    await site.stream("hello you", by=user)
    before = site.run("SELECT conversation, version, wake_at, touched_at, body FROM cases")
    await site.later(ENOUGH)
    assert site.run("SELECT conversation, version, wake_at, touched_at, body FROM cases") == before
    assert site.run("SELECT id FROM outbox") == site.run("SELECT key FROM incidents") == []
    assert before[0][2] is None, "no timer wakes for it"


async def test_the_deadline_of_a_streamed_crisis_stands_though_its_words_are_gone(site):
    site.worker.caught_up = False
    await site.stream("crisis", by=user)
    site.worker.caught_up = True
    site.clock.jump(ENOUGH)
    await site.expiry.expire_pieces()
    assert site.sealed() == [False]
    await site.worker.timers.fire(site.clock.now())
    [(state,)] = site.run("SELECT body FROM incidents")
    assert '"state":"paging"' in state


async def test_a_message_that_goes_on_keeps_its_words(site):
    """By when pieces came: what the app's clock says of them does not matter."""
    await site.worker.read(user("c", "crisis", -86_400))
    for number in range(5):
        await site.stream("good", begun=number, ends=number == 4)
        await site.later(PIECE_LIFE - SECOND)
    found = await site.store.cases([hidden("c")])
    assert len(found[hidden("c")].conversation.entries[-1].pieces) == 5


async def test_what_may_still_wait_in_the_topic_is_waited_for_an_hour(site):
    """After an outage the end of a message is read later than its beginning, and they are judged together."""
    await site.stream("crisis|", ends=False, by=user)
    site.worker.caught_up = False
    await site.later(PIECE_LIFE_BEHIND - SECOND)
    assert site.sealed() == [True]
    await site.later(2 * SECOND)
    assert site.sealed() == [False], "whoever reads the partition, and whenever"


async def test_what_comes_after_a_long_pause_is_heard_by_itself(site):
    await site.stream("hello", ends=False, by=user)
    await site.later(ENOUGH)
    await site.stream("crisis", begun=1, by=user)
    await site.later(timedelta(minutes=2))
    [(state,)] = site.run("SELECT body FROM incidents")
    assert '"state":"paging"' in state


async def test_any_number_of_conversations_is_done_in_one_look(sqlite_url):
    site = Site(sqlite_url)
    streams = [reply(f"c {n}", "good", 0, message_id="m", final=True) for n in range(1_200)]
    await site.worker.read(*streams)
    await site.later(ENOUGH)
    assert site.sealed() == [False] * 1_200
    await site.store.close()


async def test_the_loop_looks_for_them_all_the_time_and_a_database_that_is_away_ends_it_not():
    clock, store = FakeClock(), AwayStore()
    worker = Worker(store, clock)
    expiry = Expiry(store, clock, timedelta(days=7), read_to_end=worker.reading.read_to_end)
    await worker.read(reply("c", "good", 0, message_id="m", final=True))
    task = asyncio.create_task(expiry.run())
    store.away = frozenset({"expire_pieces"})
    await clock.advance(ENOUGH)
    store.away = frozenset()
    await clock.advance(LOOK)
    [case] = (await store.cases([hidden("c")])).values()
    assert case.conversation.entries[0].pieces == ()
    task.cancel()
    await until(task.done)
