"""``jiezhu replay``: the same pipeline over a file of events, with event time as the clock.

Reading looks ahead, so that a deadline falls only when no event before it can still come: turns that are
swapped within the lateness give the same result as live. Time goes on after the last event until every
watch is decided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from alerts.case import Advanced
from alerts.page import Kind
from alerts.ports import Notification
from detectors.finding import UserSignal
from monitor.changes import Paging
from monitor.crypto.pseudonym import Kind as PseudonymKind
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.decode.native import NativeDecoder
from monitor.judging import finding
from monitor.pipeline import BatchResult, Pipeline
from monitor.reader import Reader
from monitor.reading import Reading
from monitor.scoring import Scoring
from monitor.sources.file import read_records
from monitor.sources.record import Record
from monitor.store.memory import MemoryStore
from monitor.timers import Timers

Emit = Callable[[dict[str, Any]], None]
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class EventClock:
    """Time as the events tell it; it never goes back."""

    def __init__(self) -> None:
        self._now = _BEGINNING

    def now(self) -> datetime:
        return self._now

    async def sleep(self, duration: timedelta) -> None:
        self._now += duration

    def reach(self, at: datetime) -> None:
        self._now = max(self._now, at)


@dataclass(frozen=True, slots=True)
class _Line:
    """A record with what its line says about itself; ``at`` is None where it cannot be read."""

    record: Record
    at: datetime | None


@dataclass(slots=True)
class _Tally:
    turns: int = 0
    crisis_turns: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    incidents: int = 0
    pages: int = 0
    tickets: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)


class Replay:
    def __init__(self, scoring: Scoring, paging: Paging, pseudonymiser: Pseudonymiser, emit: Emit) -> None:
        self._clock = EventClock()
        self._reading = Reading(caught_up=lambda _: True)
        self._store = MemoryStore()
        self._decoder = NativeDecoder()
        self._pseudonymiser = pseudonymiser
        self._lateness = paging.policy.lateness
        self._horizon = paging.policy.reply_deadline + paging.policy.grace
        self._emit = emit
        self._tally = _Tally()
        self._names: dict[str, str] = {}
        self._said: set[str] = set()
        self._lines: dict[str, int] = {}
        self._pipeline = Pipeline(
            reader=Reader(self._decoder, pseudonymiser, self._clock),
            scoring=scoring,
            store=self._store,
            paging=paging,
            reading=self._reading,
            clock=self._clock,
            observer=self,
            lifeboat=None,
            committed=lambda _: None,
        )
        self._timers = Timers(self._store, paging, self._reading, self._clock, self, lambda: None)

    async def run(self, path: str) -> None:
        """Play the file. Raises ConfigurationError if it cannot be read."""
        ahead: deque[_Line] = deque()
        partition = ("file", 0)
        self._reading.assigned({partition: 0})
        newest = _BEGINNING
        for line in self._read(path):
            ahead.append(line)
            newest = max(newest, line.at or newest)
            while ahead and newest - (ahead[0].at or newest) > self._lateness:
                await self._step(ahead)
        while ahead:
            await self._step(ahead)
        await self._let_pass(self._clock.now() + self._horizon)
        self._summary()

    def _read(self, path: str) -> Iterator[_Line]:
        for batch in read_records(path):
            for record in batch:
                yield _Line(record, self._note(record))

    def _note(self, record: Record) -> datetime | None:
        """Remember the names on a line, which only the result for its owner tells, and its time."""
        try:
            content = orjson.loads(record.value or b"")
            conversation, event = str(content["conversation_id"]), str(content["event_id"])
            decoded = self._decoder.decode(
                record.value, now=datetime.max.replace(tzinfo=UTC), pseudonymise=self._hide, sequence=0
            )
        except Exception:  # noqa: BLE001 - the pipeline says what is wrong with it
            return None
        self._names[self._hide("conversation", conversation)] = conversation
        self._lines.setdefault(self._hide("event", event), record.offset + 1)
        return decoded.turn.at

    def _hide(self, kind: str, raw: str) -> str:
        return self._pseudonymiser.pseudonym(PseudonymKind(kind), raw)

    async def _step(self, ahead: deque[_Line]) -> None:
        """Let time pass up to the earliest event that is known to come, then handle the next record."""
        coming = [line.at for line in ahead if line.at is not None]
        if coming:
            await self._let_pass(min(coming))
        line = ahead.popleft()
        if line.at is not None:
            self._clock.reach(line.at)
        await self._pipeline.handle([line.record])

    async def _let_pass(self, until: datetime) -> None:
        while (wake := await self._store.next_wake()) is not None and wake < until:
            self._clock.reach(wake)
            if await self._timers.fire(self._clock.now()) == 0:
                self._clock.reach(wake + timedelta(milliseconds=50))
        self._clock.reach(until)

    # What the pipeline and the timers report

    def batch(self, result: BatchResult) -> None:
        for letter in result.read.dead:
            tally = self._tally.dead_letters
            tally[letter.reason] = tally.get(letter.reason, 0) + 1
            self._emit({"type": "dead_letter", "line": letter.offset + 1, "reason": letter.reason})
        for case in result.cases:
            for entry, signal in case.fresh:
                self._tally.turns += 1
                if isinstance(signal, UserSignal):
                    self._tally.crisis_turns += signal.level.crisis
                    where = self._where(case.advanced, entry.event)
                    self._emit({"type": "finding", **where, "at": _time(entry.at), **finding(signal)})
            self._decisions(case.advanced)
        self._pages(result.notifications)

    def stage(self, name: str, seconds: float) -> None:
        """Nobody measures a replay."""

    def advanced(self, advanced: Advanced, delay: float) -> None:
        del delay
        self._decisions(advanced)
        self._pages(self._store.rows())

    def timers_alive(self, now: datetime) -> None:
        """Nobody watches a replay."""

    def _decisions(self, advanced: Advanced) -> None:
        for watch in advanced.verdicts:
            outcomes = self._tally.outcomes
            outcomes[watch.outcome.value] = outcomes.get(watch.outcome.value, 0) + 1
            self._emit(
                {
                    "type": "outcome",
                    **self._where(advanced, watch.anchor),
                    "at": _time(self._clock.now()),
                    "level": watch.level.value,
                    "outcome": watch.outcome.value,
                    "reason": watch.reason,
                    "criteria": {criterion.value: met for criterion, met in watch.criteria.items()},
                    "missing": [criterion.value for criterion in watch.missing],
                    "flags": [flag.value for flag in watch.flags],
                    "release": watch.release,
                    "track": watch.track.value,
                }
            )
        for step in advanced.happened:
            self._tally.incidents += step.reason == "opened"
            self._emit(
                {
                    "type": "incident",
                    "incident": step.incident.key,
                    "conversation_id": self._names.get(step.incident.conversation),
                    "at": _time(step.at),
                    "reason": step.reason,
                    "state": step.incident.state.value,
                    "level": step.incident.level.value,
                    "outcome": step.incident.outcome.value if step.incident.outcome else None,
                }
            )

    def _pages(self, notifications: Iterable[Notification]) -> None:
        for note in notifications:
            if note.id not in self._said:
                self._said.add(note.id)
                self._page(note)

    def _page(self, note: Notification) -> None:
        page = note.page
        self._tally.pages += page.kind is Kind.PAGE
        self._tally.tickets += page.kind is Kind.TICKET
        self._emit(
            {
                "type": "page",
                "kind": page.kind.value,
                "incident": page.incident,
                "dedup_key": page.dedup_key,
                "at": _time(note.created_at),
                "level": page.level,
                "outcome": page.outcome,
                "reason": page.reason,
                "step": page.step,
                "release": page.release,
                "track": page.track,
                "route": list(note.delivery.route),
            }
        )

    def _where(self, advanced: Advanced, event: str) -> dict[str, Any]:
        conversation = advanced.case.conversation.key
        incident = advanced.case.incident
        return {
            "line": self._lines.get(event),
            "conversation_id": self._names.get(conversation),
            "incident": incident.key if incident else None,
        }

    def _summary(self) -> None:
        tally = self._tally
        self._emit(
            {
                "type": "summary",
                "turns": tally.turns,
                "crisis_turns": tally.crisis_turns,
                "outcomes": dict(sorted(tally.outcomes.items())),
                "incidents": tally.incidents,
                "pages": tally.pages,
                "tickets": tally.tickets,
                "dead_letters": dict(sorted(tally.dead_letters.items())),
            }
        )


def _time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
