"""Cases and incidents to test the store with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from alerts.case import Case, Known
from alerts.incident import Incident, State
from detectors.conversation import Conversation, Entry, Piece
from detectors.finding import Level, Outcome, ReplySignal, UserSignal
from detectors.turn import Role

NOW = datetime(2026, 3, 1, 3, 0, 0, 123457, tzinfo=UTC)
SECOND = timedelta(seconds=1)
PARTITION = ("turns", 3)


def a_case(key: str = "c-1", version: int = 0, **changes) -> Case:
    return Case(Conversation(key, **changes), version=version)


def a_long_case(key: str, entries: int, version: int = 0) -> Case:
    """A case as long sessions make them."""
    return a_case(
        key,
        version,
        entries=tuple(_entry(number) for number in range(entries)),
        seen=tuple(f"{number:032x}" for number in range(entries)),
    )


def _entry(number: int) -> Entry:
    user = number % 2 == 0
    return Entry(
        f"{number:032x}",
        Role.USER if user else Role.ASSISTANT,
        NOW + number * SECOND,
        NOW + number * SECOND,
        NOW + number * SECOND,
        digest="d" * 32,
        turn=number,
        user_signal=UserSignal(Level.NONE, 0.123456, 0.31, language="zh") if user else None,
        reply_signal=None if user else ReplySignal(language="zh"),
        lang="zh",
    )


def a_streaming_case(key: str, *words: str) -> Case:
    pieces = tuple(Piece(f"p-{n}", NOW, n, n, text) for n, text in enumerate(words))
    entry = Entry("m:1", Role.ASSISTANT, NOW, NOW, NOW, whole=False, pieces=pieces)
    return a_case(key, entries=(entry,))


def an_incident(key: str = "jz-1-1", **changes) -> Incident:
    facts = {"conversation": "c-1", "ordinal": 1, "opened_at": NOW, "last_crisis_at": NOW} | changes
    return Incident(key, **facts)


def a_full_case(key: str = "c-1") -> Case:
    return Case(
        Conversation(key),
        an_incident(state=State.PAGING, level=Level.PLAN_INTENT, outcome=Outcome.HARMFUL),
        {"e-1": Known(1, 4, Outcome.HARMFUL), "e-2": Known(1, 2)},
    )
