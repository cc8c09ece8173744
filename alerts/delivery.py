"""What has become of one notification. A state says what the receiver has got, not what we did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.page import Kind


class State(StrEnum):
    PENDING = "pending"  # nothing has left us; due as soon as a relay is free
    SENDING = "sending"  # a request may have left us; the receiver may have got it, once or not at all
    RETRYING = "retrying"  # the receiver has not said that it has it; it may have got it
    ACCEPTED = "accepted"  # the receiver said that it has it
    ABANDONED = (
        "abandoned"  # nobody has it and nobody needs it any more (an update after its page was resolved)
    )

    CARRIED = "carried"  # a grouped page tells of it: the receiver has got what it has got of that one

    @property
    def final(self) -> bool:
        return self in (State.ACCEPTED, State.ABANDONED, State.CARRIED)


ADMITTED = "admitted"  # it may have left: should its relay die, it is not decided about anew
TOLD_BY_GROUP = "told_by_group"  # why nothing of its own is sent: a grouped page speaks for it
WITHDRAWN = "withdrawn"  # why a page is abandoned: its incident was resolved before anybody had it


class Answer(StrEnum):
    """What a pager said to one request."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"  # it will never take this: do not ask this channel again
    THROTTLED = "throttled"  # later
    UNAVAILABLE = "unavailable"  # refused, 5xx, no connection
    LOST = "lost"  # no answer: it may have it or not


@dataclass(frozen=True, slots=True)
class Attempt:
    """``reason`` is a short code for logs and metrics (``http_500``, ``timeout`` …): never a body or a URL."""

    answer: Answer
    reason: str
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """``route`` is the ordered list of channels; ``channel`` the index in use.

    ``channel_since`` is when the first request on this channel was made.
    """

    route: tuple[str, ...]
    state: State = State.PENDING
    channel: int = 0
    attempts: int = 0
    channel_attempts: int = 0
    channel_since: datetime | None = None
    next_at: datetime | None = None
    accepted_at: datetime | None = None
    accepted_by: str | None = None
    reason: str = "new"

    @property
    def channel_name(self) -> str:
        return self.route[self.channel % len(self.route)]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Next channel within 30 s: ``failover_after`` plus one request's time limit stays well below.

    ``longest_retry_after`` bounds what a receiver may ask for: told to come back in an hour, we ask again
    after a minute, for silence costs more than a request too many. ``update_lifetime`` is how long an
    acknowledgement or a resolution is worth telling; a canary that is late has told what it was to tell.
    """

    failover_after: timedelta = timedelta(seconds=16)
    first_wait: timedelta = timedelta(milliseconds=500)
    longest_wait: timedelta = timedelta(seconds=30)
    longest_retry_after: timedelta = timedelta(seconds=60)
    update_lifetime: timedelta = timedelta(hours=1)
    canary_lifetime: timedelta = timedelta(minutes=2)


def reached(delivery: Delivery) -> str | None:
    """The channel whose receiver has it, or may have it as the one asked last; None if none was asked."""
    if delivery.accepted_by is not None:
        return delivery.accepted_by
    return delivery.channel_name if delivery.route and delivery.channel_attempts else None


def due(delivery: Delivery, now: datetime) -> bool:
    """True if a request should leave now. One found in ``SENDING`` has lost its relay."""
    if delivery.state is State.RETRYING:
        return delivery.next_at is None or delivery.next_at <= now
    return not delivery.state.final


def outlived(kind: Kind, age: timedelta, policy: RetryPolicy, *, canary: bool = False) -> bool:
    """True for an update or a canary that nobody needs any more. A page or a ticket is never outlived."""
    if canary:
        return age > policy.canary_lifetime
    return kind.is_update and age > policy.update_lifetime


def abandoned(delivery: Delivery, reason: str) -> Delivery:
    if delivery.state.final:
        return delivery
    return replace(delivery, state=State.ABANDONED, next_at=None, reason=reason)


def carried(delivery: Delivery) -> Delivery:
    """A grouped page tells of it from here on. One that may have left counts as asked: its updates are sent."""
    if delivery.state.final:
        return delivery
    attempts = max(delivery.attempts, int(delivery.reason == ADMITTED))
    return replace(delivery, state=State.CARRIED, attempts=attempts, next_at=None, reason=TOLD_BY_GROUP)


def put_off(delivery: Delivery, until: datetime, reason: str) -> Delivery:
    """Nothing leaves before ``until``, though nothing went wrong. One that may have left goes on being one."""
    if delivery.state.final:
        return delivery
    if delivery.reason == ADMITTED:
        reason = ADMITTED
    return replace(delivery, state=State.RETRYING, next_at=until, reason=reason)


def resumed(delivery: Delivery, now: datetime, policy: RetryPolicy) -> Delivery:
    """Its relay died with a request on the way: that request counts as lost, and it is due at once."""
    if delivery.state is not State.SENDING:
        return delivery
    return replace(answered(delivery, Attempt(Answer.LOST, "relay_died"), now, policy), next_at=now)


def started(delivery: Delivery, now: datetime) -> Delivery:
    """A request is about to leave. What is final stays as it is."""
    if delivery.state.final:
        return delivery
    return replace(
        delivery,
        state=State.SENDING,
        attempts=delivery.attempts + 1,
        channel_attempts=delivery.channel_attempts + 1,
        channel_since=delivery.channel_since or now,
        reason="sending",
    )


def answered(delivery: Delivery, attempt: Attempt, now: datetime, policy: RetryPolicy) -> Delivery:
    """Decide what follows. Never gives up on a page: after the last channel comes the first again.

    What is final stays as it is: an answer that comes late changes nothing.
    """
    if delivery.state.final:
        return delivery
    if attempt.answer is Answer.ACCEPTED:
        return replace(
            delivery,
            state=State.ACCEPTED,
            accepted_at=now,
            accepted_by=delivery.channel_name,
            next_at=None,
            reason=attempt.reason,
        )
    wait = _wait(delivery, policy)
    if attempt.retry_after is not None:
        wait = max(wait, min(attempt.retry_after, policy.longest_retry_after))
    since = delivery.channel_since or now
    spent = now + wait - since > policy.failover_after
    if attempt.answer is Answer.REJECTED or spent:
        return _next_channel(delivery, attempt, now, wait)
    return replace(delivery, state=State.RETRYING, next_at=now + wait, reason=attempt.reason)


def _next_channel(delivery: Delivery, attempt: Attempt, now: datetime, wait: timedelta) -> Delivery:
    channel = delivery.channel + 1
    round_done = channel % len(delivery.route) == 0
    return replace(
        delivery,
        state=State.RETRYING,
        channel=channel,
        channel_attempts=0,
        channel_since=None,
        # A fresh channel is asked at once; a new round over all of them waits first.
        next_at=now + wait if round_done else now,
        reason=attempt.reason,
    )


def _wait(delivery: Delivery, policy: RetryPolicy) -> timedelta:
    """Doubling, and growing with the rounds made, so that a dead pager is not hammered."""
    doublings = min(delivery.channel_attempts - 1 + delivery.channel // len(delivery.route), 10)
    return min(policy.first_wait * (1 << max(doublings, 0)), policy.longest_wait)
