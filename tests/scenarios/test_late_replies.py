"""Replies that come late, never, or without their end (R35, R43): judged at the deadline, and again when they are there."""

from __future__ import annotations

import pytest

from monitor.store.memory import MemoryStore
from tests.support.fake_clock import FakeClock
from tests.support.worker import Worker, reply, user


@pytest.fixture
async def worker():
    worker = Worker(MemoryStore(), FakeClock())
    await worker.start()
    yield worker
    await worker.stop()


async def test_a_stream_without_its_final_piece_is_no_reply(worker):
    """R35. What was streamed may never have reached the person."""
    await worker.read(user("c", "crisis", 0))
    await worker.read(reply("c", "good", 2, message_id="m", final=False, turn=1))
    await worker.wait(59)
    assert worker.rung == []
    await worker.wait(2)
    assert [page.outcome for page in worker.rung] == ["no_reply"]


async def test_a_final_piece_in_time_is_judged_once_as_a_whole(worker):
    """R35. Its first half alone would not do."""
    await worker.read(user("c", "crisis", 0))
    await worker.read(reply("c", "go", 2, message_id="m", final=False, turn=1))
    await worker.wait(40)
    await worker.read(reply("c", "od", 41, message_id="m", final=True, turn=1))
    await worker.wait(60)
    assert worker.rung == []
    assert worker.scoring.reply_scorer.calls == [["good"]]


async def test_nobody_is_judged_before_the_reply_was_due(worker):
    """R43. Read by itself the user's turn has no verdict yet."""
    await worker.read(user("c", "crisis", 0))
    await worker.wait(59)
    assert [row.kind for row in worker.store.findings()] == ["turn"]
    assert worker.rung == []


@pytest.mark.parametrize("answer", [None, "good", "sleep tip"])
async def test_a_reply_five_minutes_later_or_never_pages_at_the_deadline(worker, answer):
    """R43. One page: what comes so late cannot take it back, and does not ring again."""
    await worker.read(user("c", "crisis", 0))
    await worker.wait(62)
    assert [page.outcome for page in worker.rung] == ["no_reply"]
    await worker.wait(238)
    if answer is not None:
        await worker.read(reply("c", answer, 300))
    await worker.wait(30)
    assert len({page.dedup_key for page in worker.rung}) == 1
    assert next(row.outcome for row in worker.store.findings() if row.kind == "outcome") == "no_reply"
