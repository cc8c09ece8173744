"""A case that can be read and that nobody can decide about is treated like one that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs

from alerts.case import Case
from alerts.gaps import Gap
from alerts.incident import State
from alerts.page import Kind
from detectors.conversation import Conversation
from monitor.forgetting import Forgetting
from monitor.people import Answer
from monitor.store.burials import Burial
from monitor.store.erasing import Erasing
from monitor.store.schema import cases
from monitor.store.sql import SqlStore
from monitor.unreadable import Instead, instead_of
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.worker import POLICY, Worker, hidden, incident_of, reply, user

DAY = timedelta(days=1)
CONVERSATION, INCIDENT = ("conversation",), ("conversation", "incident")


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


async def rewrite(store: SqlStore, conversation: str, change: Callable[[dict[str, Any]], None]) -> None:
    mine = cases.c.conversation == hidden(conversation)
    stored = json.loads(await store.database.read(lambda c: c.scalar(select(cases.c.body).where(mine))))
    change(stored["body"])
    body = json.dumps(stored)
    await store.database.write(lambda c: c.execute(update(cases).where(mine).values(body=body)))


async def spoil(store: SqlStore, conversation: str, parts: tuple[str, ...] = CONVERSATION) -> None:
    """Times without a zone, as no release writes them: they decode, and cannot be held against any other."""

    def change(body: dict[str, Any]) -> None:
        body.update({part: naive(body[part]) for part in parts})

    await rewrite(store, conversation, change)


def naive(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("+00:00", ""))


def unreadable(worker: Worker) -> float:
    return worker.metrics.gaps.labels(Gap.UNREADABLE.value)._value.get()


async def later(worker: Worker, seconds: float) -> int:
    worker.clock.jump(timedelta(seconds=seconds))
    return await worker.timers.fire(worker.clock.now())


@pytest.mark.parametrize(("parts", "ordinal"), [(CONVERSATION, 1), (INCIDENT, 2)])
async def test_the_batch_goes_on_and_whose_reply_nobody_can_judge_any_more_is_rung_for(
    worker, store, parts, ordinal
):
    await worker.read(user("bad", "crisis", 0), user("c", "crisis", 0))
    await spoil(store, "bad", parts)
    with capture_logs() as logged:
        await worker.read(user("bad", "hello", 2), reply("c", "sleep tip", 2))
    assert worker.next == len(worker.topic.records)
    assert (await store.incident(incident_of("bad", ordinal))).state is State.PAGING
    assert (await store.timeline(incident_of("bad", ordinal)))[-1].reason == "case_lost"
    assert unreadable(worker) == 1
    assert [entry["event"] for entry in logged].count("case_unreadable") == 1
    await later(worker, 10)
    assert (await store.incident(incident_of("c"))).state is State.PAGING
    assert unreadable(worker) == 1


async def test_what_breaks_only_when_it_is_decided_is_folded_anew(worker, store):
    await worker.read(user("bad", "crisis", 0), user("c", "crisis", 0))

    def change(body: dict[str, Any]) -> None:
        for entry in body["conversation"]["entries"]:
            entry["received"] = naive(entry["received"])  # nobody folds by it

    await rewrite(store, "bad", change)
    await worker.read(user("bad", "crisis", 2), reply("bad", "sleep tip", 3), reply("c", "sleep tip", 2))
    assert (await store.incident(incident_of("bad"))).state is State.PAGING
    assert unreadable(worker) == 1
    case = (await store.cases([hidden("bad")]))[hidden("bad")]
    assert len(case.conversation.entries) == 2


@pytest.mark.parametrize(("parts", "ordinal"), [(CONVERSATION, 1), (INCIDENT, 2)])
async def test_its_deadline_falls_though_nothing_more_is_read(worker, store, parts, ordinal):
    await worker.read(user("bad", "crisis", 0), user("c", "crisis", 0))
    await spoil(store, "bad", parts)
    assert await later(worker, 61) == 2
    assert (await store.incident(incident_of("bad", ordinal))).state is State.PAGING
    assert (await store.incident(incident_of("c"))).state is State.PAGING
    assert unreadable(worker) == 1
    assert await later(worker, 1) == 0


async def test_who_is_rung_for_rings_on_and_can_be_taken_in_hand(worker, store):
    await worker.read(user("bad", "crisis", 0), reply("bad", "sleep tip", 1))
    await later(worker, 10)
    await spoil(store, "bad")
    deed = await worker.people.acknowledge(incident_of("bad"), "li")
    assert deed.answer is Answer.DONE
    assert (await store.incident(incident_of("bad"))).state is State.ACKNOWLEDGED


@pytest.mark.parametrize(
    "case", [Case(Conversation("c")), Case(Conversation("c"), version=3, begun_anew=True)]
)
def test_where_no_record_is_what_is_wrong_nothing_stands_in(case):
    with pytest.raises(TypeError):
        instead_of(case, TypeError(), FakeClock().now(), POLICY)


async def test_one_that_somebody_wrote_meanwhile_is_taken_as_it_is():
    instead = Instead(POLICY)
    case = Case(Conversation("c"), version=3)
    instead.add(case, TypeError(), FakeClock().now())
    assert instead.over({"c": case})["c"].begun_anew
    assert not instead.over({"c": replace(case, version=4)})["c"].begun_anew


@pytest.mark.parametrize("parts", [CONVERSATION, INCIDENT])
async def test_nobody_elses_erasure_waits_for_it(worker, store, clock, parts):
    erasing = Erasing(store.database, KEYRING)
    forgetting = Forgetting(erasing, worker.people, worker.paging.policy, clock, keep=30 * DAY)
    await worker.read(user("bad", "crisis", 0), user("c", "hello", 0))
    await spoil(store, "bad", parts)
    now = clock.now()
    await erasing.bury([Burial(hidden(name), "conversation", now, now + DAY, "li") for name in ("bad", "c")])
    assert (await forgetting.sweep()).held == 1
    assert set(await store.cases([hidden("bad"), hidden("c")])) == {hidden("bad")}
    await later(worker, 61)
    notes = await store.claim(clock.now(), timedelta(0), 9)
    assert [note.page.kind for note in notes] == [Kind.PAGE]
