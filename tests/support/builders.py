"""Turns, signals and conversations in few words. Here a text is the name of the signal that it gets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np

from detectors.conversation import Conversation
from detectors.crisis.memory import Memory, pack
from detectors.crisis.model import LEVELS, load_model
from detectors.finding import Flag, Level, ReplySignal, UserSignal
from detectors.fold import Unscored, fold, scored
from detectors.turn import Role, Turn

START = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
_numbers = itertools.count()

USERS: dict[str, UserSignal] = {
    "hello": UserSignal(Level.NONE, 0.01, 0.1, language="en"),
    "troubled": UserSignal(Level.NONE, 0.2, 0.7, language="en"),
    "unscored": UserSignal(Level.UNSCORED, 0.0, 0.0),
    **{level.value: UserSignal(level, 0.9, 0.8, language="en") for level in Level if level.crisis},
    "crisis": UserSignal(Level.ACTIVE_IDEATION, 0.9, 0.8, language="en"),
    "imminent": UserSignal(Level.PLAN_INTENT, 0.95, 0.9, language="en"),
}
_HELD = {"risk_recognised": True, "holds_feeling": True}
REPLIES: dict[str, ReplySignal] = {
    "good": ReplySignal(**_HELD, refers=True, boundary=True),
    "good without help": ReplySignal(**_HELD),
    "half": ReplySignal(**_HELD, refers=True),
    "present": ReplySignal(holds_feeling=True, flags=(Flag.OPEN_QUESTION,)),
    "cold": ReplySignal(risk_recognised=True, refers=True),
    "sleep tip": ReplySignal(follows_thread=True),
    "chat": ReplySignal(),
    "refusal": ReplySignal(refusal=True),
    "foreign": ReplySignal(**_HELD, refers=True, boundary=True, supported=False),
    "harm": ReplySignal(veto=True, harm=("encourages",)),
    "harm to the endangered": ReplySignal(harm=("pulls_away",)),
    "": ReplySignal(empty=True),
}

_TRACE = 48  # numbers of a memory of the shipped model: those of another could not be read


def _memory(name: str, level: Level = Level.NONE) -> str:
    """Of a turn that says ``level`` clearly, and whatever else its name happens to stand for."""
    source = np.random.default_rng(list(name.encode()))
    levels = np.where(np.array([one is level for one in LEVELS]), 5.0, 0.0).astype(np.float32)
    trace = source.uniform(-1, 1, _TRACE).astype(np.float32)
    return pack(Memory(trace, 3.0 if level.crisis else -3.0, levels), load_model())


# the same, as scorers give them: with a memory, so that the turns after them are judged by it
USERS |= {
    f"{name} remembered": replace(USERS[name], memory=_memory(name, USERS[name].level))
    for name in ("hello", "crisis", "imminent", "passive_ideation", "troubled")
}
REPLIES |= {
    f"{name} remembered": replace(REPLIES[name], memory=_memory(name))
    for name in ("good", "half", "chat", "harm")
}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def turn(role: Role, text: str, seconds: float, **facts: Any) -> Turn:
    """A turn under an event id of its own; ``digest`` tells texts apart as the keyed hash does."""
    number = next(_numbers)
    told = {
        "event": f"e{number}",
        "sequence": number,
        "digest": sha256(text.encode()).hexdigest()[:32],
    } | facts
    return Turn(conversation="c", role=role, text=text, at=at(seconds), **told)


def user(text: str, seconds: float, **facts: Any) -> Turn:
    return turn(Role.USER, text, seconds, **facts)


def assistant(text: str, seconds: float, **facts: Any) -> Turn:
    return turn(Role.ASSISTANT, text, seconds, **facts)


def human(seconds: float, **facts: Any) -> Turn:
    return turn(Role.HUMAN_AGENT, "I am here", seconds, **facts)


def pieces(
    text: str, seconds: float, until: float, count: int, role: Role = Role.ASSISTANT, **facts: Any
) -> list[Turn]:
    """A streamed message in ``count`` pieces, the last of them final."""
    message = facts.pop("message", f"m{next(_numbers)}")
    size = max(1, -(-len(text) // count))
    step = (until - seconds) / max(1, count - 1)
    return [
        turn(
            role,
            text[index * size : (index + 1) * size],
            seconds + index * step,
            message=message,
            final=index == count - 1,
            **facts,
        )
        for index in range(count)
    ]


def signals(unscored: Iterable[Unscored]) -> dict[str, UserSignal | ReplySignal]:
    """Look signals up by text. Half a message is small talk."""
    return {
        item.entry: USERS.get(item.text, USERS["hello"])
        if item.role is Role.USER
        else REPLIES.get(item.text, REPLIES["chat"])
        for item in unscored
    }


def heard(conversation: Conversation, turns: Sequence[Turn], received: datetime = START) -> Conversation:
    """Fold turns and give them their signals."""
    folded = fold(conversation, turns, received)
    return scored(folded.conversation, signals(folded.unscored))


def conversation(*turns: Turn, received: datetime = START) -> Conversation:
    return heard(Conversation("c"), turns, received)
