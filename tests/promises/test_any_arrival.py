"""Row 10: duplicates, lateness and disorder change nothing.

Conversations are made up, some turns are lost on the way, and what is left arrives in any order and any batches, some of it
twice, some of it again under a new event id; as bytes, through decoding, folding, deciding and the store. What comes out
must be what comes out of the same turns in order: every incident in every field, every page, ticket and verdict.

When that holds, and what is always on the loud side instead, is told in ``tests/alerts/test_order.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from alerts.policy import Policy, Step
from detectors.turn import Role, Turn
from monitor.metrics import Metrics
from monitor.store.memory import MemoryStore
from tests.support.builders import START
from tests.support.fake_clock import FakeClock
from tests.support.form import Form, Tell
from tests.support.strategies import HARMLESS_REPLIES, arrivals, conversations
from tests.support.worker import Worker, event

pytestmark = [pytest.mark.promise]

# While all of it is read no verdict falls.
POLICY = Policy(steps=(Step(("first",)), Step(("second",))), lateness=timedelta(days=1), rounds=1)
METRICS = Metrics()  # of all of them: nobody asks
AFTERWARDS = timedelta(hours=1)  # longer than an episode is quiet


@st.composite
def told(draw: st.DrawFn) -> tuple[list[Turn], list[list[Turn]]]:
    """What was said and not lost, in order, and how it arrives."""
    said = draw(conversations(replies=HARMLESS_REPLIES))
    lost = draw(st.sets(st.sampled_from(range(len(said))), max_size=2)) if said else set()
    turns = [turn for place, turn in enumerate(said) if place not in lost]
    assume(turns)
    return turns, draw(arrivals(turns))


def test_arrival_changes_nothing(form: Form, tell: Tell) -> None:
    cases = form.pick(1_000, 10_000)
    counts = {"cases": 0, "differ": 0, "pages": 0, "repeats": 0}

    with asyncio.Runner() as runner:

        @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(told())
        def same(found: tuple[list[Turn], list[list[Turn]]]) -> None:
            turns, deliveries = found
            expected = runner.run(result([turns]))
            counts["cases"] += 1
            counts["pages"] += len(expected[1])
            counts["repeats"] += sum(map(len, deliveries)) - len(turns)
            actual = runner.run(result(deliveries))
            counts["differ"] += actual != expected
            assert actual == expected

        try:
            same()
        finally:
            tell(
                10,
                "duplicates, lateness, disorder",
                f"{counts['cases']} cases with {counts['pages']} notifications and {counts['repeats']} repeats: "
                f"{counts['differ']} differ",
            )
    assert counts["cases"] >= cases
    assert counts["pages"] > cases / 4, "or it would prove little"
    assert counts["repeats"] > cases


async def result(deliveries: Sequence[Sequence[Turn]]) -> tuple[Any, ...]:
    """All that came out, but for event ids: a turn that is sent under two keeps the one that was read first."""
    worker = Worker(store := MemoryStore(), clock := FakeClock(), policy=POLICY, metrics=METRICS)
    worker.caught_up = False
    for batch in deliveries:
        await worker.read(*(as_bytes(turn) for turn in batch))
    worker.caught_up = True
    end = max(turn.at for batch in deliveries for turn in batch) + AFTERWARDS
    while True:
        await worker.timers.fire(clock.now())
        due = await store.next_wake()
        if due is None or due > end:
            break
        clock.jump(max(due - clock.now(), timedelta(milliseconds=1)))
    pages = [(note.id, note.created_at, without_links(note.page)) for note in store.notifications()]
    verdicts = [
        (row.at, row.level, row.outcome, row.reason, row.detail)
        for row in store.findings()
        if row.kind == "outcome"
    ]
    return list(store._incidents.values()), sorted(pages, key=lambda one: one[0]), verdicts


def without_links(page: Any) -> Any:
    return replace(page, link=None, ack_link=None)


def as_bytes(turn: Turn) -> bytes:
    role = {
        Role.USER: "user",
        Role.ASSISTANT: "assistant",
        Role.HUMAN_AGENT: "human_agent",
        Role.SYSTEM: "system",
    }
    facts: dict[str, Any] = {"event_id": turn.event}
    if turn.turn is not None:
        facts["turn"] = turn.turn
    if turn.streamed:
        facts |= {"message_id": turn.message, "final": turn.final}
        facts.setdefault("turn", turn.turn)
    known = {name: value for name, value in facts.items() if value is not None}
    return event("c", role[turn.role], turn.text, (turn.at - START).total_seconds(), **known)
