"""What figures cost a batch: the tally in its transaction, and making it. Both as shares, within one run."""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import replace

import pytest

from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from monitor.tally.cell import Style, Tally, Where, hour_of
from monitor.tally.codec import tally_to_json
from monitor.tally.making import tally_of
from tests.benchmarks.test_store import a_batch
from tests.support.cases import NOW
from tests.support.fake_clock import FakeClock
from tests.support.postgres import postgres
from tests.support.stores import (
    KEYRING,
    postgres_template,
    postgres_url,
    sqlite_template,
    sqlite_url,
    url,
)
from tests.support.worker import Worker, reply, user

__all__ = ["postgres", "postgres_template", "postgres_url", "sqlite_template", "sqlite_url", "url"]

pytestmark = pytest.mark.bench

ROUNDS = 120  # pairs of a batch with and one without, in an order that chance makes
AIM = 0.02


def a_tally() -> Tally:
    """As a batch of forty cases makes it: two releases, two languages, three states, and twenty styles."""
    tally = Tally(hour_of(NOW))
    for number in range(8):
        state = ("none", "distressed", "crisis")[number % 3]
        where = Where("production", f"7.{number % 2}", ("zh", "en")[number // 2 % 2], state, "live")
        cell = tally.at(where)
        for name in (
            "turn:user",
            "turn:assistant",
            "reply:new",
            "answer:all",
            "flag:validation",
            "emotion:named",
        ):
            cell.counts[name] += 3
        for dimension in ("A:emotion", "A:empathy", "A:reappraisal", "A:behaviour", "B:safety", "B:warmth"):
            cell.mark(dimension, 3)
        cell.took(900 + number)
    where = next(iter(tally.cells))
    tally.styles += [(where, Style("none", "none", 0.1, "zh", "1" + "a" * 80, "m" * 96)) for _ in range(20)]
    return tally


async def test_the_tally_in_a_batch_s_transaction(url):
    store = SqlStore(url, KEYRING)
    tally, chance = a_tally(), random.Random(6)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    number = 0
    for _ in range(ROUNDS):
        order = [True, False]
        chance.shuffle(order)
        for with_it in order:
            work = a_batch(number, 20)
            work = replace(work, tally=tally) if with_it else work
            begun = time.process_time()  # of all threads: nobody else on this machine stands in it
            await store.commit(work)
            seconds[with_it].append(time.process_time() - begun)
            number += 1
    await store.close()
    middle = {key: statistics.median(some[5:]) for key, some in seconds.items()}
    paired = statistics.median(a - b for a, b in zip(seconds[True], seconds[False], strict=True))
    print(
        f"\n{url.split(':')[0]}: a batch of 40 cases takes {1000 * middle[False]:.2f} ms of CPU, with its tally "
        f"{1000 * middle[True]:.2f} ms; of pairs {1e6 * paired:+.0f} us = {paired / middle[False]:+.1%} (aim {AIM:.0%}); "
        f"{len(tally_to_json(tally))} bytes",
        end="",
    )


async def test_making_it():
    """Beside all the rest of a batch but the encoder, which takes hundreds of times as long."""
    store = MemoryStore()
    worker = Worker(store, FakeClock())
    spent = []
    for part in range(30):
        lines = [
            line
            for number in range(40)
            for line in (
                user(f"c{number}", ("hello", "troubled", "crisis")[number % 3], part * 10),
                reply(f"c{number}", ("good", "chat", "half")[number % 3], part * 10 + 1),
            )
        ]
        begun = time.perf_counter()
        await worker.read(*lines)
        whole = time.perf_counter() - begun
        results = [case for result in worker.results[-2:] for case in result.cases]
        begun = time.perf_counter()
        tally_of(results, worker.clock.now(), lambda *_: False, styles=b"k" * 32)
        spent.append((time.perf_counter() - begun, whole))
    made, whole = (statistics.median(some) for some in zip(*spent[5:], strict=True))
    print(
        f"\nmaking the tally of 80 turns: {1000 * made:.2f} ms; all of their way without the encoder {1000 * whole:.1f} ms",
        end="",
    )
