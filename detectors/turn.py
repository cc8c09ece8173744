"""A turn: one message of a conversation, with raw ids already replaced by pseudonyms."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from detectors.notes import Notes


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    HUMAN_AGENT = "human_agent"
    SYSTEM = "system"


class Track(StrEnum):
    STAGING = "staging"
    CANARY = "canary"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message (DESIGN §4).

    ``event``, ``conversation``, ``user`` and ``message`` are pseudonyms (keyed hashes); the raw ids
    do not get this far. ``digest`` is a keyed hash of the text, so that the same turn sent under a new
    event id is known again without keeping its words. ``text`` never shows in a ``repr``.
    """

    event: str
    conversation: str
    role: Role
    text: str = field(repr=False)
    at: datetime  # UTC, the producer's clock
    sequence: int = 0  # position in the source; breaks ties
    digest: str = ""
    user: str | None = None
    turn: int | None = None
    message: str | None = None
    final: bool | None = None  # None: not streamed; False: a piece; True: the last piece
    release: str = "unknown"
    track: Track = Track.PRODUCTION
    app: str | None = None
    lang: str | None = None  # BCP 47, as the producer says
    region: str | None = None  # ISO 3166
    latency_ms: float | None = None
    assistant: dict[str, Any] | None = field(default=None, repr=False)
    probe: dict[str, Any] | None = field(default=None, repr=False)
    notes: Notes | None = None

    @property
    def emotion_due(self) -> bool | None:
        """Whether the script of a probe says that an emotion is to be named at this turn; None where nobody says."""
        expected = ((self.probe or {}).get("expect") or {}).get("emotion")
        return None if expected is None else bool(expected)

    @property
    def streamed(self) -> bool:
        """True for a piece of a message that arrives bit by bit, the last piece included."""
        return self.message is not None and self.final is not None
