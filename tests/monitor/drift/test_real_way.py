"""The whole way of a style: judged in a batch, tallied in its transaction, added up, and of nobody by name."""

from __future__ import annotations

from dataclasses import replace

from detectors.drift import packing
from detectors.drift.stratum import State
from monitor.drift.folding import Folding
from monitor.publisher import Publishing
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.styling import Styling
from monitor.tally.codec import tally_of_json
from monitor.tally.styles import row_of
from tests.support.builders import REPLIES
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.tallies import a_publisher
from tests.support.worker import Worker, hidden, reply, user


async def test_replies_of_a_batch_come_to_the_sketch_of_their_hour():
    clock, store = FakeClock(), MemoryStore()
    worker, tallies = Worker(store, clock), MemoryTallies(store)
    worker.scoring.styling = Styling(b"k")
    signal = replace(REPLIES["good remembered"], language="en")
    worker.scoring.reply_scorer.score = lambda texts, *_: [signal for _ in texts]
    publisher = a_publisher(tallies, clock, publishing=Publishing(fold_style=Folding()))
    facts = {"release": "1.5", "track": "canary"}
    for number in range(4):
        await worker.read(
            user("c", "crisis" if number else "hello", number * 9, **facts),
            reply("c", "good", number * 9 + 1, **facts),
        )
        if number % 2:
            await publisher.look()
    tallied = {
        style.conversation for body in store.tallies.values() for _, style in tally_of_json(body).styles
    }
    assert not tallied, "they are added up"
    [place] = await tallies.sketched(EPOCH.replace(minute=0))
    assert place.where == row_of("canary", "1.5", "live")
    packed = (await tallies.hours([place]))[place].style
    sketch = packing.unpack(packed)
    assert (sketch.replies, sketch.conversations, sketch.pairs) == (4, 1, 6)
    assert sum(pairs.pairs for pairs in sketch.linked.values()) == 6
    assert {key.state for key in sketch.strata} == {State.CALM, State.ACTIVE}
    names = {hidden("c"), *store._cases}
    kept = {f"{name:016x}" for tally in sketch.strata.values() for name in tally.sample.rows}
    assert len(kept) == 1
    assert not any(one in name for one in kept for name in names)
