"""A reply that comes word by word: through decoding, a database and a verdict."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from detectors.pieces import APART, KEPT, TOGETHER
from detectors.reply.scorer import PatternReplyScorer
from monitor.scoring import Scoring
from monitor.store.engine import migration_engine
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from tests.support.fake_clock import FakeClock
from tests.support.scripted_scorers import ScriptedUsers
from tests.support.stores import KEYRING
from tests.support.worker import Worker, hidden, reply, user

GOOD_REPLY = "你一定累透了。有没有想过自杀？我只是AI，替不了医生，现在就拨12356，或者叫室友过来陪你。"
SECRECY = "这是我们的小秘密，谁都别说。"


@pytest.mark.parametrize(("end", "outcome"), [("嗯。", "handled"), (SECRECY, "harmful")])
@pytest.mark.parametrize("swapped", [False, True])
async def test_the_last_of_many_pieces_decides(sqlite_url, end, outcome, swapped):
    store, clock = SqlStore(sqlite_url, KEYRING), FakeClock()
    worker = Worker(store, clock, scoring=Scoring(ScriptedUsers(), PatternReplyScorer()))
    said = [*GOOD_REPLY, *["嗯。"] * 1_100, end]
    pieces = [
        reply("c", piece, 1 + n / 100, message_id="m", final=n == len(said) - 1, event_id=f"p{n}")
        for n, piece in enumerate(said)
    ]
    if swapped:
        pieces[0:1_000:2], pieces[1:1_000:2] = pieces[1:1_000:2], pieces[0:1_000:2]
        pieces[-2:] = reversed(pieces[-2:])
    await worker.read(user("c", "crisis", 0), *pieces)
    [case] = (await store.cases([hidden("c")])).values()
    kept = case.conversation.entries[-1].pieces
    assert "".join(piece.text for piece in kept) == "".join(said)
    assert len(kept) < APART + 2 * KEPT // TOGETHER
    clock.jump(timedelta(minutes=3))
    await worker.timers.fire(clock.now())
    engine = migration_engine(parse(sqlite_url))
    with engine.begin() as connection:
        told = connection.execute(text("SELECT outcome FROM findings WHERE kind = 'outcome'")).scalars().all()
    engine.dispose()
    worker.scoring.close()
    await store.close()
    assert told == [outcome]
