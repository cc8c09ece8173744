"""What a batch held, and what became of it: handed from the pipeline to metrics, log, replay and lifeboat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from alerts.canary import is_canary
from alerts.case import Advanced, Case
from alerts.ports import Notification
from alerts.watch import Exchange
from detectors.conversation import Conversation, Entry
from detectors.turn import Turn
from monitor.answered import Answered, answered_of
from monitor.scoring import Signal
from monitor.store.work import DeadLetter, Partition

Scored = dict[tuple[str, str], tuple[str, Signal]]
"""By conversation and entry: the text that was scored, and what it says."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a batch held: turns by conversation, dead letters, and how far it reaches."""

    turns: Mapping[str, Sequence[Turn]]
    partition_of: Mapping[str, Partition]
    dead: Sequence[DeadLetter]
    reached: Mapping[Partition, int]  # next offset after this batch
    good: Sequence[bool] = ()  # of each record, in order: could it be read
    unknown_fields: int = 0
    at: datetime | None = None  # when it was read

    @property
    def newest(self) -> dict[Partition, datetime]:
        """Time of the newest turn of each partition. One that is yet to come counts only where there is no other.

        A clock that runs ahead says nothing of how far we have read: or whatever waits for an answer that stands further
        on in a backlog would be taken for unanswered. Nor do canaries say how far the app's own turns have come.
        """
        found: dict[Partition, datetime] = {}
        for conversation, turns in self.turns.items():
            if is_canary(conversation):
                continue
            partition = self.partition_of[conversation]
            ats = [turn.at for turn in turns]
            found[partition] = max([found[partition], *ats] if partition in found else ats, key=self._order)
        return found

    def _order(self, at: datetime) -> tuple[bool, datetime]:
        return self.at is None or at <= self.at, at


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One conversation after a batch: what metrics, log and replay tell about it.

    ``fresh`` are the entries scored in this batch, users' in their context; ``before`` is what was known of
    those that had been scored already, such as a message that the user goes on streaming. ``earlier`` is the conversation
    before the batch, ``arrived`` the messages that are new in it.
    """

    advanced: Advanced
    fresh: tuple[tuple[Entry, Signal], ...]
    before: Mapping[str, Signal]
    repeats: int
    exchanges: tuple[Exchange, ...] = field(repr=False)
    earlier: Conversation = field(repr=False)
    arrived: tuple[Entry, ...] = field(repr=False)
    _answered: list[list[Answered]] = field(default_factory=list, repr=False, compare=False)

    def answered(self) -> list[Answered]:
        """First replies that are new. Worked out once, when somebody asks."""
        if not self._answered:
            new = {entry.event for entry, _ in self.fresh if entry.event not in self.before}
            self._answered.append(answered_of(self.exchanges, new))
        return self._answered[0]


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A batch that was decided and written, ``at`` that time."""

    read: Read
    cases: tuple[CaseResult, ...]
    notifications: tuple[Notification, ...]
    at: datetime


def known_of(before: Case, found: Mapping[str, Signal]) -> dict[str, Signal]:
    signals = {entry.event: entry.user_signal or entry.reply_signal for entry in before.conversation.entries}
    return {event: signal for event, signal in signals.items() if signal is not None and event in found}


def fresh_of(
    case: Case, found: Mapping[str, Signal], spoken: Sequence[Exchange]
) -> tuple[tuple[Entry, Signal], ...]:
    in_context = {
        entry.event: signal
        for exchange in spoken
        for entry, signal in zip(exchange.user, exchange.signals, strict=True)
    }
    return tuple(
        (entry, in_context.get(entry.event, found[entry.event]))
        for entry in case.conversation.entries
        if entry.event in found
    )
