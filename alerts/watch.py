"""Watches: for every crisis turn, what the assistant did about it. Recomputed from the window, never kept.

Because a watch is a function of the ordered conversation, turns that come late or swapped give the same
verdicts as turns that come in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.moment import Moment
from alerts.policy import Policy
from detectors.context import contextual
from detectors.conversation import Conversation, Entry
from detectors.finding import Criterion, Flag, Handling, Level, Outcome, UserSignal
from detectors.reply.merge import merge_all
from detectors.reply.outcome import judge
from detectors.turn import Role, Track


class Status(StrEnum):
    AWAITING = "awaiting"  # nothing whole has been said to the person yet
    ANSWERED = "answered"  # a reply stands; another message may still follow
    SETTLED = "settled"  # the outcome stands


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said, and everything the assistant said until the user spoke again."""

    user: tuple[Entry, ...]
    signals: tuple[UserSignal, ...]  # in the context of what came before
    reply: tuple[Entry, ...]
    ended: bool  # the user has spoken again

    @property
    def worst(self) -> int:
        """Index of the gravest user turn; unscored ones count for nothing beside a scored one."""
        return max(
            range(len(self.signals)),
            key=lambda i: (self.signals[i].level.severity, self.signals[i].level is Level.UNSCORED, -i),
        )


@dataclass(frozen=True, slots=True)
class Watch:
    """``anchor`` is the event of the first crisis turn of the exchange; ``due`` is when the verdict falls.

    ``wake`` is the same by our clock, never earlier than a grace after we read the turn.
    """

    anchor: str
    level: Level
    score: float
    distress: float
    at: datetime
    status: Status
    outcome: Outcome
    reason: str
    criteria: dict[Criterion, bool]
    missing: tuple[Criterion, ...]
    flags: tuple[Flag, ...]
    due: datetime
    wake: datetime
    replied_at: datetime | None
    release: str
    track: Track
    lang: str
    region: str
    user_entries: tuple[str, ...]
    probe: bool = False


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Split the window where the user begins to speak again. Messages that still stream say nothing yet."""
    spoken = [entry for entry in conversation.entries if entry.speaks]
    users = [entry for entry in spoken if entry.role is Role.USER and entry.user_signal is not None]
    in_context = contextual([entry.user_signal for entry in users if entry.user_signal is not None])
    signals = {entry.event: signal for entry, signal in zip(users, in_context, strict=True)}
    groups = list(_groups([e for e in spoken if e.role is not Role.USER or e.event in signals]))
    return [
        Exchange(
            user=tuple(user),
            signals=tuple(signals[entry.event] for entry in user),
            reply=tuple(reply),
            ended=index < len(groups) - 1,
        )
        for index, (user, reply) in enumerate(groups)
        if user
    ]


def watches(conversation: Conversation, policy: Policy, moment: Moment) -> list[Watch]:
    """Every crisis exchange of the window, and every exchange with a harmful reply, oldest first."""
    found: list[Watch] = []
    earlier_help = False
    for exchange in exchanges(conversation):
        level = exchange.signals[exchange.worst].level
        if level.crisis or _vetoed(exchange.reply):
            watch = _watch(exchange, policy, moment, earlier_help=earlier_help)
            found.append(watch)
            if level.crisis:
                earlier_help = watch.outcome is Outcome.HANDLED or (
                    earlier_help and watch.status is not Status.SETTLED
                )
    return found


def _groups(spoken: Sequence[Entry]) -> Iterator[tuple[list[Entry], list[Entry]]]:
    user: list[Entry] = []
    reply: list[Entry] = []
    for entry in spoken:
        if entry.role is Role.USER:
            if reply:
                yield user, reply
                user, reply = [], []
            user.append(entry)
        else:
            reply.append(entry)
    yield user, reply


def _vetoed(reply: Sequence[Entry]) -> bool:
    return any(entry.reply_signal is not None and entry.reply_signal.veto for entry in reply)


def _watch(exchange: Exchange, policy: Policy, moment: Moment, *, earlier_help: bool) -> Watch:
    worst = exchange.signals[exchange.worst]
    crisis = [e for e, s in zip(exchange.user, exchange.signals, strict=True) if s.level.crisis]
    first = crisis[0] if crisis else exchange.user[0]
    level = worst.level
    due = first.at + policy.deadline(level)
    wake = max(due, first.received + policy.grace)
    status, handling, replied_at = Status.AWAITING, _nothing_said(), None
    answer = [e for e in exchange.reply if e.role is Role.ASSISTANT and e.reply_signal is not None]
    if any(entry.role is Role.HUMAN_AGENT for entry in exchange.reply):
        status, handling = Status.SETTLED, _said(Outcome.HANDLED, "human_took_over")
        replied_at = exchange.reply[0].done_at
    elif _vetoed(exchange.reply):
        status, handling = Status.SETTLED, _judged(answer, level, earlier_help=earlier_help)
        replied_at = answer[0].done_at
    elif answer and answer[0].done_at <= due:
        counted = _in_one_go(answer, policy)
        handling = _judged(counted, level, earlier_help=earlier_help)
        replied_at = counted[0].done_at
        due = counted[-1].done_at + policy.grace
        wake = max(due, max(entry.received for entry in counted) + policy.grace)
        settled = exchange.ended or moment.passed(due, wake, policy.lateness)
        status = Status.SETTLED if settled else Status.ANSWERED
    elif answer or moment.passed(due, wake, policy.lateness):
        status, handling = Status.SETTLED, _said(Outcome.NO_REPLY, "reply_too_late" if answer else "no_reply")
        replied_at = answer[0].done_at if answer else None
    return Watch(
        anchor=first.event,
        level=level,
        score=worst.score,
        distress=max(signal.distress for signal in exchange.signals),
        at=first.at,
        status=status,
        outcome=handling.outcome,
        reason=handling.reason,
        criteria=handling.criteria,
        missing=handling.missing,
        flags=handling.flags,
        due=due,
        wake=wake,
        replied_at=replied_at,
        release=(answer[0] if answer else first).release,
        track=(answer[0] if answer else first).track,
        lang=first.lang or worst.language,
        region=first.region or "",
        user_entries=tuple(entry.event for entry in exchange.user),
        probe=first.probe,
    )


def _in_one_go(answer: Sequence[Entry], policy: Policy) -> list[Entry]:
    """The messages of a reply: each within the grace of the one before. What comes later comes too late."""
    counted = [answer[0]]
    for entry in answer[1:]:
        if entry.done_at > counted[-1].done_at + policy.grace:
            break
        counted.append(entry)
    return counted


def _judged(answer: Sequence[Entry], level: Level, *, earlier_help: bool) -> Handling:
    signal = merge_all(entry.reply_signal for entry in answer if entry.reply_signal is not None)
    return judge(signal, level, earlier_help=earlier_help)


def _nothing_said() -> Handling:
    """Unhandled is the default until proved otherwise (DESIGN §3)."""
    return _said(Outcome.UNHANDLED, "nothing_said_yet")


def _said(outcome: Outcome, reason: str) -> Handling:
    return Handling(outcome, {}, reason)
