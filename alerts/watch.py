"""Watches: for every crisis turn, what the assistant did about it. Recomputed from the window, never kept.

Because a watch is a function of the ordered conversation, turns that come late or swapped give the same
verdicts as turns that come in order. For the same reason what counts is when things were said, not when we
heard of them; the one exception is a harmful reply, which is not waited with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.moment import Moment
from alerts.policy import Policy
from detectors.context import asks, contextual
from detectors.conversation import Conversation, Entry
from detectors.finding import Criterion, Flag, Handling, Level, Outcome, ReplySignal, UserSignal
from detectors.reply.earlier import Helped
from detectors.reply.merge import merge_all
from detectors.reply.outcome import HUMAN_TOOK_OVER, judge
from detectors.turn import Role, Track

# A turn that was read as soon as it came and is older than this has a clock of its own.
OWN_CLOCK = timedelta(seconds=10)
_CERTAIN = frozenset({Outcome.HANDLED, Outcome.HARMFUL})  # they stand though more may follow


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
            key=lambda i: (
                self.signals[i].level.severity,
                self.signals[i].level.imminent,
                self.signals[i].level is Level.UNSCORED,
                -i,
            ),
        )


@dataclass(frozen=True, slots=True)
class CrisisTurn:
    """``level`` in the context of what came before."""

    event: str
    level: Level
    score: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Watch:
    """``anchor`` is the event of the first crisis turn of the exchange; ``due`` is when the verdict falls.

    ``wake`` is the same by our clock: never earlier than a grace after we read the turn, and never later than
    a whole deadline after it, however fast the producer's clock is. ``heard_at`` is when we last heard of
    anything in the exchange. ``crises`` is empty where only a harmful reply is watched.
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
    reply_entries: tuple[str, ...]
    crises: tuple[CrisisTurn, ...]
    heard_at: datetime
    probe: bool = False
    degraded: bool = False  # some of it was judged without the encoder


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Split the window where the user begins to speak again. Messages that still stream say nothing yet."""
    spoken = [entry for entry in conversation.entries if entry.speaks]
    users = [entry for entry in spoken if entry.role is Role.USER and entry.user_signal is not None]
    in_context = contextual(
        [entry.signal for entry in spoken if entry.signal is not None],
        left=[(one.memory, one.assistant) for one in conversation.left],
    )
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
    """Every crisis exchange of the window, and every exchange with a harmful reply, oldest first.

    Help that was offered is not owed again while the danger is no greater (``judge``). It ends with the episode: help that
    was offered long ago is to be offered again.
    """
    found: list[Watch] = []
    helped = Helped()
    last: datetime | None = None
    for exchange in (part for whole in exchanges(conversation) for part in _parts(whole, policy)):
        asking = any(asks(signal) for signal in exchange.signals)
        if not asking and not _harms(exchange.reply, exchange.signals[exchange.worst].level):
            continue
        at = exchange.user[0].at
        if last is not None and at - last > policy.quiet:
            helped = Helped()
        level = exchange.signals[exchange.worst].level
        watch = _watch(exchange, policy, moment, earlier_help=helped.covers(level))
        found.append(watch)
        certain = watch.status is Status.SETTLED or watch.outcome in _CERTAIN
        if certain and watch.reason != HUMAN_TOOK_OVER:  # what a person said is not known to be help in full
            helped = helped.after(level, watch.outcome)
        if asking:
            last = at
    return found


def _parts(exchange: Exchange, policy: Policy) -> Iterator[Exchange]:
    """Split an exchange where a crisis turn comes after the deadline of those before it.

    Nobody answered those in time: that is one verdict. Who goes on writing is owed an answer anew, or a crisis
    that follows an unanswered one would be lost in it.
    """
    start, due = 0, None
    for index, (entry, signal) in enumerate(zip(exchange.user, exchange.signals, strict=True)):
        if not asks(signal):
            continue
        if due is not None and entry.at > due:
            user, signals = exchange.user[start:index], exchange.signals[start:index]
            yield Exchange(user=user, signals=signals, reply=(), ended=True)
            start, due = index, None
        mine = entry.at + policy.deadline(signal.level)
        due = mine if due is None else min(due, mine)
    yield replace(exchange, user=exchange.user[start:], signals=exchange.signals[start:])


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


def _harms(reply: Sequence[Entry], level: Level) -> bool:
    said = [entry.reply_signal for entry in reply if entry.reply_signal is not None]
    return any(judge(signal, level).outcome is Outcome.HARMFUL for signal in said)


def _watch(exchange: Exchange, policy: Policy, moment: Moment, *, earlier_help: bool) -> Watch:
    worst = exchange.signals[exchange.worst]
    level = worst.level
    turns = list(zip(exchange.user, exchange.signals, strict=True))
    crises = tuple(
        CrisisTurn(entry.event, signal.level, signal.score, entry.at)
        for entry, signal in turns
        if asks(signal)
    )
    watched = [(entry, signal.level) for entry, signal in turns if asks(signal)] or [
        (exchange.user[0], level)
    ]
    first = watched[0][0]
    due, wake = _deadline(watched, policy)
    behind = max(_behind(entry) for entry, _ in watched)
    status, handling, replied_at = Status.AWAITING, _nothing_said(), None
    answer = sorted(
        (e for e in exchange.reply if e.role is Role.ASSISTANT and e.reply_signal is not None),
        key=lambda e: (e.done_at, e.at, e.event),
    )
    if answer and answer[0].done_at <= due:
        counted = _in_one_go(answer, policy)
        status, handling = Status.ANSWERED, _judged(counted, level, earlier_help=earlier_help)
        replied_at = counted[0].done_at
        due = counted[-1].done_at + policy.grace
        behind = max(_behind(entry) for entry in counted)
        wake = max(entry.received for entry in counted) + policy.grace
    elif answer:
        replied_at = answer[0].done_at
    whole_signal = _merged(answer)
    whole = judge(whole_signal, level, earlier_help=earlier_help)
    human = min((e.done_at for e in exchange.reply if e.role is Role.HUMAN_AGENT), default=None)
    if answer and whole.outcome is Outcome.HARMFUL:
        status, handling = Status.SETTLED, whole
    elif human is not None and human <= due:
        handling, replied_at = _said(Outcome.HANDLED, HUMAN_TOOK_OVER), human
        # Not at once: an earlier answer that let the person down may still be on its way to us.
        status = Status.SETTLED if moment.passed(due, wake, policy.lateness, behind) else Status.ANSWERED
    elif moment.passed(due, wake, policy.lateness, behind):
        if status is Status.AWAITING:
            late = bool(answer) or human is not None
            handling = _said(Outcome.NO_REPLY, "reply_too_late" if late else "no_reply")
        status = Status.SETTLED
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
        reply_entries=tuple(entry.event for entry in exchange.reply),
        crises=crises,
        heard_at=max(entry.received for entry in (*exchange.user, *exchange.reply)),
        probe=first.probe,
        degraded=whole_signal.degraded or any(signal.degraded for signal in exchange.signals),
    )


def _deadline(turns: Sequence[tuple[Entry, Level]], policy: Policy) -> tuple[datetime, datetime]:
    """When an answer is due, by event time and by our clock. Each crisis turn has its own deadline."""
    due = min(entry.at + policy.deadline(level) for entry, level in turns)
    wake = min(
        max(
            min(entry.at + _behind(entry), entry.received) + policy.deadline(level),
            entry.received + policy.grace,
        )
        for entry, level in turns
    )
    return due, wake


def _behind(entry: Entry) -> timedelta:
    """How far its producer's clock is behind ours, as far as that can be told.

    Else its deadline would have passed before it was said.
    """
    age = entry.received - entry.done_at
    return age if entry.live and age > OWN_CLOCK else timedelta(0)


def _in_one_go(answer: Sequence[Entry], policy: Policy) -> list[Entry]:
    """The messages of a reply: each within the grace of the one before. What comes later comes too late."""
    counted = [answer[0]]
    for entry in answer[1:]:
        if entry.done_at > counted[-1].done_at + policy.grace:
            break
        counted.append(entry)
    return counted


def _judged(answer: Sequence[Entry], level: Level, *, earlier_help: bool) -> Handling:
    return judge(_merged(answer), level, earlier_help=earlier_help)


def _merged(answer: Sequence[Entry]) -> ReplySignal:
    return merge_all(entry.reply_signal for entry in answer if entry.reply_signal is not None)


def _nothing_said() -> Handling:
    """Unhandled is the default until proved otherwise (DESIGN §3)."""
    return _said(Outcome.UNHANDLED, "nothing_said_yet")


def _said(outcome: Outcome, reason: str) -> Handling:
    return Handling(outcome, {}, reason)
