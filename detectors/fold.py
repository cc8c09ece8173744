"""Folding turns into a conversation: repeats vanish, late and swapped turns find their place, pieces join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from detectors.conversation import Conversation, Entry, Piece, ordered
from detectors.finding import ReplySignal, UserSignal
from detectors.turn import Role, Turn

WINDOW = 64  # entries kept; a session of an hour has 40 to 60
HELD_WINDOW = 256  # entries kept while crisis turns among them still wait for a verdict
SEEN = 256  # events remembered for repeats
PIECES = 1024  # pieces of one streamed message
STREAM_CHARACTERS = 65_536  # of one streamed message
PIECE_LIFE = timedelta(seconds=120)  # a late piece of a whole message is joined for so long


@dataclass(frozen=True, slots=True)
class Unscored:
    """A text that waits for its signal. Lives only inside one batch."""

    entry: str
    role: Role
    text: str = field(repr=False)
    lang: str | None
    region: str | None


@dataclass(frozen=True, slots=True)
class Folded:
    conversation: Conversation
    unscored: tuple[Unscored, ...]
    repeats: int


def fold(conversation: Conversation, turns: Iterable[Turn], received: datetime) -> Folded:
    """Add turns in any order. The result depends on the set of turns, not on the order they came in.

    ``unscored`` holds every text that became whole or changed; give its signals back with ``scored``.
    """
    entries = {entry.event: entry for entry in conversation.entries}
    seen = dict.fromkeys(conversation.seen)
    said = {_said(e.role, e.turn, e.at, e.digest) for e in conversation.entries if e.digest and not e.pieces}
    texts: dict[str, Unscored] = {}
    repeats = 0
    for turn in turns:
        said_again = not turn.streamed and bool(turn.digest)
        key = _said(turn.role, turn.turn, turn.at, turn.digest)
        if turn.event in seen or (said_again and key in said):
            repeats += 1
            continue
        seen[turn.event] = None
        said.add(key)
        entry = _joined(entries, turn, received) if turn.streamed else _whole(turn, received)
        entries[entry.event] = entry
        if entry.speaks and entry.role in (Role.USER, Role.ASSISTANT):
            text = joined_text(entry.pieces) if entry.pieces else turn.text
            texts[entry.event] = Unscored(entry.event, entry.role, text, entry.lang, entry.region)
    kept = tuple(list(seen)[-SEEN:])
    folded = Conversation(conversation.key, ordered(list(entries.values())), kept)
    return Folded(folded, tuple(texts.values()), repeats)


def scored(conversation: Conversation, signals: dict[str, UserSignal | ReplySignal]) -> Conversation:
    """Attach signals by entry."""
    return replace(
        conversation, entries=tuple(_with_signal(e, signals.get(e.event)) for e in conversation.entries)
    )


def trim(conversation: Conversation, held: frozenset[str]) -> Conversation:
    """Bound the window, oldest out first; ``held`` entries stay while they wait for a verdict.

    The words of a streamed message go once it is whole and no late piece is expected any more (M7).
    """
    newest = conversation.newest_at
    entries = [_without_old_pieces(e, newest) if newest else e for e in conversation.entries]
    surplus = len(entries) - WINDOW
    kept = []
    for entry in entries:
        if surplus > 0 and (entry.event not in held or surplus > HELD_WINDOW - WINDOW):
            surplus -= 1
            continue
        kept.append(entry)
    return replace(conversation, entries=tuple(kept))


def joined_text(pieces: tuple[Piece, ...]) -> str:
    text = "".join(piece.text for piece in pieces)
    return text[:STREAM_CHARACTERS]


def _said(role: Role, turn: int | None, at: datetime, digest: str) -> tuple[Role, int | datetime, str]:
    """The same words by the same speaker at the same place are one turn, whatever the event id (R41)."""
    return (role, turn if turn is not None else at, digest)


def _whole(turn: Turn, received: datetime) -> Entry:
    return Entry(
        event=turn.event,
        role=turn.role,
        at=turn.at,
        done_at=turn.at,
        received=received,
        digest=turn.digest,
        turn=turn.turn,
        message=turn.message,
        release=turn.release,
        track=turn.track,
        lang=turn.lang,
        region=turn.region,
        probe=turn.probe is not None,
        latency_ms=turn.latency_ms,
    )


def _joined(entries: dict[str, Entry], turn: Turn, received: datetime) -> Entry:
    event = f"m:{turn.message}"
    piece = Piece(turn.event, turn.at, turn.turn, turn.sequence, turn.text, bool(turn.final))
    before = entries.get(event)
    if before is None:
        first = replace(_whole(turn, received), event=event, digest="")
        return replace(first, whole=piece.final, pieces=(piece,))
    pieces = sorted((*before.pieces, piece), key=lambda p: (p.turn or 0, p.at, p.final, p.sequence, p.event))
    pieces = pieces[:PIECES]
    whole = before.whole or piece.final
    # A message that was whole and whose words are gone cannot be judged anew: keep its verdict.
    return replace(
        before,
        at=min(before.at, turn.at),
        done_at=max(before.done_at, turn.at),
        received=max(before.received, received),
        turn=turn.turn if before.turn is None else min(before.turn, turn.turn or before.turn),
        whole=whole,
        pieces=tuple(pieces) if before.pieces else (),
    )


def _with_signal(entry: Entry, signal: UserSignal | ReplySignal | None) -> Entry:
    if isinstance(signal, UserSignal):
        return replace(entry, user_signal=signal)
    if isinstance(signal, ReplySignal):
        return replace(entry, reply_signal=signal)
    return entry


def _without_old_pieces(entry: Entry, newest: datetime) -> Entry:
    if entry.pieces and entry.whole and newest - entry.done_at > PIECE_LIFE:
        return replace(entry, pieces=())
    return entry
