"""``jiezhu replay``: the same pipeline over a file of events, with event time as the clock.

The lines are played in the order of their times, wherever they stand in the file: what is late or swapped in a
file was not late to the person, and conversations may follow one another. Time goes on after the last event until
every watch is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from alerts.case import Advanced
from alerts.page import Kind
from alerts.ports import Notification
from detectors.finding import UserSignal
from detectors.fold import entry_of
from monitor.batch import BatchResult
from monitor.changes import Paging
from monitor.crypto.pseudonym import Kind as PseudonymKind
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.decode.decoder import attempt
from monitor.decode.native import NativeDecoder
from monitor.decode.rejection import Rejected
from monitor.event_clock import BEGINNING, EventClock, Line, in_order
from monitor.judging import finding
from monitor.pipeline import Pipeline
from monitor.reader import Reader
from monitor.reading import Reading
from monitor.scoring import Scoring
from monitor.sources.file import FILE_TOPIC, read_records
from monitor.sources.record import Record
from monitor.store.memory import MemoryStore
from monitor.store.work import Work
from monitor.timers import Timers

Emit = Callable[[dict[str, Any]], None]
# Where no pager is configured, pages still show.
_NOBODY = ("unconfigured",)


class _Tape(MemoryStore):
    """Remembers what was newly written to the outbox, until it is told."""

    def __init__(self) -> None:
        super().__init__()
        self._untold: list[Notification] = []

    async def commit(self, work: Work) -> None:
        new = [note for note in work.notifications if note.id not in self._rows]
        await super().commit(work)
        self._untold += new

    def tell(self) -> list[Notification]:
        told, self._untold = self._untold, []
        return told


@dataclass(slots=True)
class _Tally:
    # By conversation and entry: a turn is judged anew with each piece that comes of it, and is one all the same.
    crises: dict[tuple[str, str], bool] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    incidents: int = 0
    pages: int = 0
    escalations: int = 0  # nobody acknowledges in a replay
    tickets: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)


class Replay:
    """``today``: an event further ahead than a day is a mistake, as it is live."""

    def __init__(
        self,
        scoring: Scoring,
        paging: Paging,
        pseudonymiser: Pseudonymiser,
        emit: Emit,
        today: datetime | None = None,
    ) -> None:
        paging = replace(paging, policy=replace(paging.policy, rounds=1))
        if not paging.routing.channels:
            paging = replace(paging, routing=replace(paging.routing, channels=_NOBODY))
        self._today = today or datetime.now(UTC)
        self._clock = EventClock()
        self._reading = Reading(caught_up=lambda _: True)
        self._store = _Tape()
        self._decoder = NativeDecoder()
        self._pseudonymiser = pseudonymiser
        policy = paging.policy
        self._horizon = max(policy.reply_deadline, policy.imminent_reply_deadline) + policy.grace
        self._emit = emit
        self._tally = _Tally()
        self._names: dict[str, str] = {}
        self._lines: dict[tuple[str, str], int] = {}  # by conversation and entry; of several pieces the first
        self._places: list[int] = []  # the line of each record, by the position at which it was played
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
        self._reading.assigned({(FILE_TOPIC, 0): 0})
        for place, line in enumerate(in_order(self._read(path))):
            await self._step(line, place)
        await self._let_pass(self._clock.now() + self._horizon)
        self._summary()

    def _read(self, path: str) -> Iterator[Line]:
        newest = BEGINNING
        for batch in read_records(path):
            for record in batch:
                at = self._note(record)
                newest = max(newest, at or newest)
                yield Line(record, at or newest, readable=at is not None)

    def _note(self, record: Record) -> datetime | None:
        """Remember the names on a line, which only the result for its owner tells, and its time."""
        decoded = attempt(self._decoder, record.value, now=self._today, pseudonymise=self._name, sequence=0)
        if isinstance(decoded, Rejected):  # the pipeline says what is wrong with it
            return None
        turn = decoded.turn
        self._lines.setdefault((turn.conversation, entry_of(turn)), record.offset + 1)
        return turn.at

    def _name(self, kind: str, raw: str) -> str:
        pseudonym = self._pseudonymiser.pseudonym(PseudonymKind(kind), raw)
        if kind == PseudonymKind.CONVERSATION:
            self._names[pseudonym] = raw
        return pseudonym

    async def _step(self, line: Line, place: int) -> None:
        """Let time pass up to this line, then handle it. Positions are those of the order in which it is played."""
        await self._let_pass(line.at)
        if line.readable:
            self._clock.reach(line.at)
        self._places.append(line.record.offset + 1)
        await self._pipeline.handle([replace(line.record, offset=place)])

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
            self._emit({"type": "dead_letter", "line": self._places[letter.offset], "reason": letter.reason})
        for case in result.cases:
            for entry, signal in case.fresh:
                crisis = isinstance(signal, UserSignal) and signal.level.crisis
                self._tally.crises[(case.advanced.case.conversation.key, entry.event)] = crisis
                if isinstance(signal, UserSignal):
                    where = self._where(case.advanced, entry.event)
                    self._emit({"type": "finding", **where, "at": _time(entry.at), **finding(signal)})
            self._decisions(case.advanced)
        self._pages()

    def stage(self, name: str, seconds: float) -> None:
        """Nobody measures a replay."""

    def scorer_failed(self) -> None:
        """The finding says that the turn is unscored."""

    def fenced(self) -> None:
        """A replay is alone with its store."""

    def advanced(self, advanced: Advanced, delay: float) -> None:
        del delay
        self._decisions(advanced)
        self._pages()

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

    def _pages(self) -> None:
        for note in self._store.tell():
            self._page(note)

    def _page(self, note: Notification) -> None:
        page = note.page
        rings = page.kind is Kind.PAGE
        self._tally.pages += rings and page.step == 0
        self._tally.escalations += rings and page.step > 0
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
            "line": self._lines.get((conversation, event)),
            "conversation_id": self._names.get(conversation),
            "incident": incident.key if incident else None,
        }

    def _summary(self) -> None:
        tally = self._tally
        self._emit(
            {
                "type": "summary",
                "turns": len(tally.crises),
                "crisis_turns": sum(tally.crises.values()),
                "outcomes": dict(sorted(tally.outcomes.items())),
                "incidents": tally.incidents,
                "pages": tally.pages,
                "escalations": tally.escalations,
                "tickets": tally.tickets,
                "dead_letters": dict(sorted(tally.dead_letters.items())),
            }
        )


def _time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
