"""One worker without its edges: pipeline, timers, relay, people and lifeboat over any store, on a fake clock.

``Topic`` stands for the broker, ``Worker.pump`` for the source: it goes where the pipeline says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from alerts.escalation import Links, Routing
from alerts.page import Kind, Page
from alerts.policy import Policy, Step
from alerts.ports import Clock, Notification, Pager
from alerts.relay import Grouping, Relay
from monitor.batch import BatchResult
from monitor.changes import Paging
from monitor.crypto.pseudonym import Kind as Hidden
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.decode.decoder import Decoder
from monitor.decode.native import NativeDecoder
from monitor.errors import PositionConflict
from monitor.group_keeper import GroupKeeper
from monitor.lifeboat import Lifeboat
from monitor.metrics import Metrics
from monitor.people import People
from monitor.pipeline import Pipeline
from monitor.reader import Reader
from monitor.reading import Reading
from monitor.recorder import Recorder
from monitor.scoring import Scoring
from monitor.sources.record import Record
from monitor.store.work import Partition, Store
from monitor.tally.styles import PURPOSE as MARKS
from monitor.tallying import Tallying
from monitor.timers import Timers
from tests.support.builders import at
from tests.support.fake_clock import settle
from tests.support.fake_pager import FakePager
from tests.support.scripted_scorers import ScriptedScoring

PSEUDONYMISER = Pseudonymiser(b"p" * 32)
PARTITION: Partition = ("turns", 0)
POLICY = Policy(steps=(Step(("first",)), Step(("second",))))


def event(conversation: str, role: str, text: str, seconds: float, **facts: Any) -> bytes:
    name = facts.pop("event_id", f"{conversation}-{role}-{seconds}-{text[:20]}")
    return orjson.dumps(
        {
            "event_id": name,
            "conversation_id": conversation,
            "role": role,
            "text": text,
            "at": at(seconds).isoformat(),
        }
        | facts
    )


def user(conversation: str, text: str, seconds: float, **facts: Any) -> bytes:
    return event(conversation, "user", text, seconds, **facts)


def reply(conversation: str, text: str, seconds: float, **facts: Any) -> bytes:
    return event(conversation, "assistant", text, seconds, **facts)


def hidden(conversation: str) -> str:
    """The key of a case."""
    return PSEUDONYMISER.pseudonym(Hidden.CONVERSATION, conversation)


def incident_of(conversation: str, ordinal: int = 1) -> str:
    return f"jz-{hidden(conversation)[:20]}-{ordinal}"


class Topic:
    def __init__(self, partition: Partition = PARTITION) -> None:
        self.partition = partition
        self.records: list[Record] = []
        self.committed: int | None = None

    def add(self, *values: bytes | None) -> None:
        for value in values:
            self.records.append(Record(self.partition, len(self.records), None, value))

    async def ask(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        """What is committed to the broker."""
        return {} if self.committed is None else dict.fromkeys(partitions, self.committed)


class Worker:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        topic: Topic | None = None,
        policy: Policy = POLICY,
        pagers: Sequence[Pager] | None = None,
        scoring: Scoring | None = None,
        metrics: Metrics | None = None,
        grouping: Grouping | None = None,
        decoder: Decoder | None = None,
    ) -> None:
        self.clock = clock
        self.store = store
        self.topic = topic or Topic()
        self.caught_up = True
        self.stuck: datetime | None = None  # since when the source can hand on nothing
        self.first = FakePager("first", clock)
        self.second = FakePager("second", clock)
        self.scoring = scoring or ScriptedScoring()
        self.metrics = metrics or Metrics()
        self.recorder = Recorder(self.metrics, clock.now)
        self.reading = Reading(
            lambda _: self.caught_up and self.next == len(self.topic.records), lambda _: self.stuck
        )
        self.results: list[BatchResult] = []
        self.up: list[bool] = []
        self.next: int | None = None
        pagers = list(pagers or (self.first, self.second))
        paging = Paging(
            policy,
            Routing(tuple(pager.name for pager in pagers)),
            Links(lambda key: f"https://jiezhu.example/{key}", lambda _: None),
            self._settle,
        )
        self.tallying = Tallying(self.recorder.tally_failed, styles=PSEUDONYMISER.key(MARKS))
        self.relay = Relay(store, pagers, clock, self.recorder, grouping=grouping)
        self.people = People(store, paging, clock, self.relay.wake, self.tallying)
        self.groups = GroupKeeper(
            store, self.people, paging, clock, self.relay.wake, unreadable=self.recorder.unreadable
        )
        self.paging = paging
        self.lifeboat = Lifeboat(
            store=store,
            pagers=pagers,
            paging=paging,
            reading=self.reading,
            clock=clock,
            relay_observer=self.recorder,
            rewind=self.rewind,
            up=self.up.append,
            grouping=grouping,
        )
        self.timers = Timers(
            store,
            paging,
            self.reading,
            clock,
            self.recorder,
            self.relay.wake,
            self.tallying,
            self.lifeboat,
        )
        self.pipeline = Pipeline(
            reader=Reader(decoder or NativeDecoder(), PSEUDONYMISER, clock),
            scoring=self.scoring,
            store=store,
            paging=paging,
            reading=self.reading,
            clock=clock,
            observer=self.recorder,
            lifeboat=self.lifeboat,
            committed=self._committed,
            tallying=self.tallying,
            timer=lambda: clock.now().timestamp(),
        )
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Run the loops that a daemon runs. End with ``stop``."""
        await self.join()
        for loop in (self.relay.run(), self.timers.run(), self.lifeboat.run(), self.groups.run()):
            self._tasks.append(asyncio.create_task(loop))
        await settle()

    async def stop(self) -> None:
        await self.lifeboat.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def join(self) -> None:
        """The topic's partition becomes ours."""
        positions = await self.pipeline.assigned([self.topic.partition], self.topic.ask)
        self.next = positions.get(self.topic.partition, 0)

    async def rewind(self) -> None:
        await self.join()
        await self.pump()

    async def read(self, *values: bytes | None) -> None:
        """Records arrive, and are read in one batch."""
        self.topic.add(*values)
        await self.pump()

    async def pump(self, size: int = 64) -> None:
        """Read to the end of the topic, as a source does."""
        if self.next is None:
            await self.join()
        while batch := self.topic.records[self.next :][:size]:
            try:
                done = await self.pipeline.handle(batch)
            except PositionConflict:
                await self.join()
                continue
            self.next = done[self.topic.partition]
            self.topic.committed = self.pipeline.written(self.topic.partition)

    async def wait(self, seconds: float) -> None:
        await self.clock.advance(timedelta(seconds=seconds))  # type: ignore[attr-defined]

    @property
    def rung(self) -> list[Page]:
        """Pages that were sent, over whatever channel; no tickets, no updates."""
        sent = sorted((*self.first.rung, *self.second.rung), key=lambda one: one[0])
        return [page for _, page in sent if page.kind is Kind.PAGE]

    def _settle(self, notes: list[Notification]) -> list[Notification]:
        return self.lifeboat.settle(notes)

    def _committed(self, result: BatchResult) -> None:
        self.results.append(result)
        self.relay.wake()
        self.timers.wake()
        self.lifeboat.remember(result)
