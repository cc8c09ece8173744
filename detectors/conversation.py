"""A conversation as it is kept: a bounded window of entries with what was found, without their words.

Only the pieces of a streamed message carry text, for as long as further ones are joined to them (M7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from detectors.finding import ReplySignal, UserSignal
from detectors.notes import Notes, Own
from detectors.turn import Role, Track

# Producers' clocks differ; turn numbers are believed over times while they disagree by no more than this.
CLOCK_SKEW = timedelta(seconds=120)
# One speaker's messages come from one clock: there, numbers that run against it by more have begun anew.
SAME_CLOCK_SKEW = timedelta(seconds=5)

_RANK = {Role.USER: 0, Role.ASSISTANT: 1, Role.HUMAN_AGENT: 2, Role.SYSTEM: 3}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a piece stands in its message: this orders them."""

    turn: int
    final: bool
    at: datetime
    sequence: int
    event: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a streamed message, or neighbouring ones that have grown together.

    Then ``last`` is the place of the last of them, and ``others`` are the events of all but the first.
    """

    event: str
    at: datetime
    turn: int | None
    sequence: int
    text: str = field(repr=False)
    final: bool = False
    last: Place | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One message in the window.

    ``at`` orders it; ``done_at`` is when it was whole (the last piece of a stream); ``received`` is our
    clock when its last event came. A streamed message is ``whole`` once its final piece is there, and ``cut``
    where it is so long that words of it were lost, or misplaced.
    """

    event: str
    role: Role
    at: datetime
    done_at: datetime
    received: datetime
    digest: str = ""
    turn: int | None = None
    message: str | None = None
    whole: bool = True
    cut: bool = False
    pieces: tuple[Piece, ...] = ()
    user_signal: UserSignal | None = None
    reply_signal: ReplySignal | None = None
    release: str = "unknown"
    track: Track = Track.PRODUCTION
    lang: str | None = None
    region: str | None = None
    probe: bool = False  # said by a scripted synthetic user, or to one
    emotion_due: bool | None = None  # as the script of a probe says
    latency_ms: float | None = None  # the app's own figure
    live: bool = (
        False  # it was read as soon as it came: what it is older than that is its producer's clock's error
    )
    notes: Notes | None = None

    @property
    def signal(self) -> UserSignal | ReplySignal | None:
        """What was found in it."""
        return self.user_signal if self.role is Role.USER else self.reply_signal

    @property
    def speaks(self) -> bool:
        """True once the message counts: said by somebody and whole.

        What a user says counts from its first piece: a cry for help that breaks off is one.
        """
        return self.role is Role.USER or (self.whole and self.role is not Role.SYSTEM)


@dataclass(frozen=True, slots=True)
class Left:
    """What an entry that left the window still tells about those after it."""

    memory: str = field(repr=False)
    assistant: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """``entries`` in order; ``seen`` the events already folded, newest last; ``left`` the last that left the window.

    Those that stay go on being judged by what was said before them: else a turn that was harmless only in its
    context would ring once that has left.

    ``said`` counts the user turns of all time, those that left included; ``fired`` is what the assistant has said of itself.
    """

    key: str
    entries: tuple[Entry, ...] = ()
    seen: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    said: int = 0
    fired: tuple[Own, ...] = ()

    @property
    def user_turns(self) -> int:
        """How many messages the user has begun. A case that a release without this count has written has those of its window."""
        return max(self.said, sum(entry.role is Role.USER for entry in self.entries))

    @property
    def streams(self) -> bool:
        """True while a message is not whole whose words are kept to be joined with the rest."""
        return any(entry.pieces and not entry.whole for entry in self.entries)


def ordered(entries: list[Entry]) -> tuple[Entry, ...]:
    """Put entries in the order they were said. A function of the set: arrival does not matter.

    Turn numbers decide while they agree with the clocks: within ``CLOCK_SKEW`` between speakers, within
    ``SAME_CLOCK_SKEW`` for one speaker, equal numbers included. A producer that starts counting anew in the
    same conversation is ordered by time.
    """
    if all(entry.turn is not None for entry in entries):
        by_turn = sorted(entries, key=lambda e: (e.turn or 0, e.at, *_tie(e)))
        if _agrees_with_time(by_turn):
            return tuple(by_turn)
    return tuple(sorted(entries, key=lambda e: (e.at, _RANK[e.role], e.turn or 0, *_tie(e))))


def _tie(entry: Entry) -> tuple[int, str, str]:
    """What is said decides before its event id, which a turn that is sent again may have changed."""
    return _RANK[entry.role], entry.digest, entry.event


def _agrees_with_time(entries: list[Entry]) -> bool:
    latest: dict[Role, datetime] = {}
    number: dict[tuple[Role, int | None], datetime] = {}  # the earliest message of a number
    for entry in entries:
        first = number.setdefault((entry.role, entry.turn), entry.at)
        if entry.at - first > SAME_CLOCK_SKEW:
            return False
        for role, at in latest.items():
            if at - entry.at > (SAME_CLOCK_SKEW if role is entry.role else CLOCK_SKEW):
                return False
        latest[entry.role] = max(latest.get(entry.role, entry.at), entry.at)
    return True
