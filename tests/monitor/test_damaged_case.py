"""A case that cannot be read stops nobody else's: it is begun anew, and whoever it may concern is rung for."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from alerts.gaps import Gap
from alerts.incident import State
from alerts.signing import link
from monitor.crypto.keyring import Key, Keyring
from monitor.health import Health
from monitor.store.sql import SqlStore
from monitor.web import incident as incident_page
from monitor.web.app import build
from tests.support.damage import BROKEN, damage_row
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.worker import Worker, hidden, incident_of, reply, user

LINKS = b"k" * 32
DAY = timedelta(days=1)
LOST = "case_lost"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(sqlite_url):
    store = SqlStore(sqlite_url, KEYRING)
    yield store
    await store.close()


@pytest.fixture
def worker(store, clock) -> Worker:
    return Worker(store, clock)


async def damage(store: SqlStore, conversation: str, *, incident: bool = False) -> None:
    for table in ["cases", "incidents"] if incident else ["cases"]:
        await damage_row(store, table, "body", BROKEN, "conversation", hidden(conversation))


def damaged(worker: Worker) -> float:
    return worker.metrics.gaps.labels(Gap.UNREADABLE.value)._value.get()


async def test_the_others_of_the_batch_page_and_whose_reply_nobody_can_judge_any_more_does_too(worker, store):
    await worker.read(user("bad", "crisis", 0), reply("bad", "good", 1), user("c", "crisis", 0))
    await damage(store, "bad")
    await worker.read(user("bad", "hello", 2), reply("c", "sleep tip", 2))
    assert (await store.incident(incident_of("bad"))).state is State.PAGING
    assert damaged(worker) == 1
    await worker.read(user("bad", "hello", 3))
    worker.clock.jump(timedelta(seconds=10))
    await worker.timers.fire(worker.clock.now())
    assert damaged(worker) == 1
    for name in ("bad", "c"):
        rows = await store.timeline(incident_of(name))
        assert [row.reason for row in rows if row.state == "paging"] == [
            LOST if name == "bad" else "unhandled"
        ]
    assert worker.next == len(worker.topic.records)


async def test_what_comes_afterwards_is_heard_and_rings_as_what_it_is(worker, store):
    await worker.read(user("bad", "hello", 0))
    await damage(store, "bad")
    await worker.read(user("bad", "crisis", 2), reply("bad", "sleep tip", 3))
    worker.clock.jump(timedelta(seconds=10))
    await worker.timers.fire(worker.clock.now())
    assert (await store.incident(incident_of("bad"))).state is State.PAGING
    assert damaged(worker) == 1


async def test_its_time_comes_all_the_same(worker, store):
    await worker.read(user("bad", "crisis", 0), user("c", "crisis", 0))
    await damage(store, "bad")
    worker.clock.jump(timedelta(seconds=61))
    assert await worker.timers.fire(worker.clock.now()) == 2
    for name in ("bad", "c"):
        assert (await store.incident(incident_of(name))).state is State.PAGING
    assert damaged(worker) == 1


async def test_counting_goes_on_so_that_no_page_is_taken_for_a_known_one(worker, store):
    await worker.read(user("bad", "crisis", 0), reply("bad", "sleep tip", 1))
    worker.clock.jump(timedelta(seconds=4))
    await worker.timers.fire(worker.clock.now())
    await worker.people.resolve(incident_of("bad"), "li", None)
    await damage(store, "bad")
    await worker.read(user("bad", "crisis", 5), reply("bad", "sleep tip", 6))
    worker.clock.jump(timedelta(seconds=10))
    await worker.timers.fire(worker.clock.now())
    assert (await store.incident(incident_of("bad"))).state is State.RESOLVED
    assert (await store.incident(incident_of("bad", 2))).state is State.PAGING


async def test_where_the_incident_is_damaged_too_another_rings(worker, store):
    await worker.read(user("bad", "crisis", 0), reply("bad", "sleep tip", 1))
    worker.clock.jump(timedelta(seconds=4))
    await worker.timers.fire(worker.clock.now())
    await damage(store, "bad", incident=True)
    await worker.read(user("bad", "hello", 5))
    assert (await store.incident(incident_of("bad", 2))).state is State.PAGING


@pytest.fixture
def closed(sqlite_url, worker):
    """The same database, whose words were sealed with a key that is not here."""
    return SqlStore(sqlite_url, Keyring([Key("later", b"l" * 32)]))


async def test_words_whose_key_is_gone_stop_nobody(worker, closed, clock):
    await worker.read(
        user("c", "crisis", 0), reply("c", "sleep", 1, message_id="m", final=False, turn=1, event_id="p0")
    )
    other = Worker(closed, clock, topic=worker.topic)
    await other.read(
        reply("c", " tip", 2, message_id="m", final=True, turn=1, event_id="p1"), user("d", "crisis", 2)
    )
    clock.jump(timedelta(seconds=63))
    assert await other.timers.fire(clock.now()) == 2
    # what came of the message after its words were gone is judged as one of its own
    for name, outcome in (("c", "unhandled"), ("d", "no_reply")):
        assert (await closed.incident(incident_of(name))).outcome == outcome
    assert damaged(other) == 0
    await closed.close()


@pytest.mark.parametrize("how", ["damaged", "key gone"])
async def test_who_is_rung_for_can_be_acknowledged(worker, store, closed, clock, how):
    await worker.read(
        *(user("c", "crisis", 0), reply("c", "sleep tip", 1)),
        reply("c", "sl", 2, message_id="m", final=False, turn=2, event_id="p0"),
    )
    clock.jump(timedelta(seconds=4))
    await worker.timers.fire(clock.now())
    if how == "damaged":
        await damage(store, "c")
    people = Worker(store if how == "damaged" else closed, clock).people
    pages = incident_page.routes([LINKS], store, people, clock)
    app = build(CollectorRegistry(), lambda: Health(()), lambda: Health(()), lambda: "{}", pages)
    parts = urlsplit(link(LINKS, "http://127.0.0.1", incident_of("c"), "ack", clock.now() + DAY))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        assert (await client.post(f"{parts.path}?{parts.query}")).status_code == 200
    assert (await store.incident(incident_of("c"))).state is State.ACKNOWLEDGED
    await closed.close()
