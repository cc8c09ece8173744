"""Folding turns into a conversation: repeats vanish, late and swapped turns find their place, pieces join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from detectors.conversation import CLOCK_SKEW, Conversation, Entry, Left, Piece, ordered
from detectors.crisis.memory import REACH
from detectors.finding import Evidence, Level, ReplySignal, UserSignal
from detectors.notes import Own
from detectors.pieces import events, joined_text, packed, with_piece
from detectors.turn import Role, Turn

WINDOW = 64  # entries kept; a session of an hour has 40 to 60
HELD_WINDOW = 256  # entries kept while crisis turns among them still wait for a verdict
SEEN = 256  # events remembered for repeats
PIECE_LIFE = timedelta(minutes=2)  # so long after a piece came, a further one is joined to it
PIECE_LIFE_BEHIND = timedelta(hours=1)  # the same while that one may wait where we have not read yet


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


def fold(
    conversation: Conversation, turns: Iterable[Turn], received: datetime, *, live: bool = False
) -> Folded:
    """Add turns in any order. The result depends on the set of turns, not on the order they came in (a message that is ``cut`` apart).

    Three things tell of arrival: ``received``, ``live`` (nothing was waiting when these came), and the event id of a turn that was sent under several.
    ``unscored`` holds every text that became whole or changed; give its signals back with ``scored``.
    """
    entries = {entry.event: entry for entry in conversation.entries}
    known = frozenset(entries)
    held = {*entries, *(event for entry in conversation.entries for event in events(entry.pieces))}
    seen = dict.fromkeys(conversation.seen)
    said: dict[_Said, list[str]] = {}
    for entry in conversation.entries:
        said.setdefault(_said(entry), []).append(entry.event)
    changed: dict[str, str] = {}  # and the text of what is not streamed
    repeats = 0
    for turn in turns:
        if turn.event in seen or turn.event in held:
            repeats += 1
            continue
        seen[turn.event] = None
        if turn.streamed:
            entry = _joined(entries, turn, received, live=live)
        else:
            entry = _whole(turn, received, live=live)
            again = [event for event in said.get(_said(entry), ()) if _same(entries[event], entry)]
            if again:
                repeats += 1
                first = entries[again[0]]
                entries[first.event] = replace(
                    first, at=min(first.at, turn.at), done_at=min(first.at, turn.at)
                )
                continue
            said.setdefault(_said(entry), []).append(entry.event)
        entries[entry.event] = entry
        changed[entry.event] = turn.text
    unscored = [
        Unscored(
            event, entry.role, joined_text(entry.pieces) if entry.pieces else text, entry.lang, entry.region
        )
        for event, text in changed.items()
        if (entry := entries[event]).speaks and entry.role in (Role.USER, Role.ASSISTANT)
    ]
    entries |= {event: _bounded(entries[event]) for event in changed}
    kept = tuple(list(seen)[-SEEN:])
    new = [entry for event, entry in entries.items() if event not in known]
    folded = replace(
        conversation,
        entries=ordered(list(entries.values())),
        seen=kept,
        said=conversation.user_turns + sum(entry.role is Role.USER for entry in new),
        fired=_fired(conversation.fired, new),
    )
    return Folded(folded, tuple(unscored), repeats)


def scored(conversation: Conversation, signals: dict[str, UserSignal | ReplySignal]) -> Conversation:
    """Attach signals by entry. One that was given without the encoder takes nothing grave away."""
    return replace(
        conversation, entries=tuple(_with_signal(e, signals.get(e.event)) for e in conversation.entries)
    )


def trim(
    conversation: Conversation, held: frozenset[str], now: datetime, piece_life: timedelta = PIECE_LIFE
) -> Conversation:
    """Bound the window, oldest out first; ``held`` entries stay while they wait for a verdict.

    The words of a streamed message go once no further piece is expected, whole or broken off (M7): by our clock, as the
    speakers' may be hours apart.
    """
    entries = [
        replace(entry, pieces=()) if entry.pieces and now - entry.received > piece_life else entry
        for entry in conversation.entries
    ]
    surplus = len(entries) - WINDOW
    kept = []
    left = list(conversation.left)
    for entry in entries:
        if surplus > 0 and (entry.event not in held or surplus > HELD_WINDOW - WINDOW):
            surplus -= 1
            if entry.speaks and entry.signal is not None:
                left.append(Left(entry.signal.memory, entry.role is not Role.USER))
            continue
        kept.append(entry)
    return replace(conversation, entries=tuple(kept), left=tuple(left[-REACH:]))


def _fired(before: tuple[Own, ...], new: Iterable[Entry]) -> tuple[Own, ...]:
    now = {own for entry in new if entry.notes is not None for own in entry.notes.fired}
    return tuple(own for own in Own if own in before or own in now)


_Said = tuple[Role, int | datetime, str]


def _said(entry: Entry) -> _Said:
    """The same words by the same speaker at the same place are one turn, whatever the event id (R41)."""
    return (entry.role, entry.turn if entry.turn is not None else entry.at, entry.digest)


def _same(one: Entry, other: Entry) -> bool:
    """A producer that counts anew each day may hear the same words at the same number: that is no repeat."""
    return bool(one.digest) and abs(one.at - other.at) <= CLOCK_SKEW


def _whole(turn: Turn, received: datetime, *, live: bool) -> Entry:
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
        emotion_due=turn.emotion_due,
        latency_ms=turn.latency_ms,
        live=live,
        notes=turn.notes,
    )


def _joined(entries: dict[str, Entry], turn: Turn, received: datetime, *, live: bool) -> Entry:
    event = _joins(entries, turn)
    piece = Piece(turn.event, turn.at, turn.turn, turn.sequence, turn.text, bool(turn.final))
    before = entries.get(event)
    if before is None:
        first = replace(_whole(turn, received, live=live), event=event, digest="")
        return replace(first, whole=piece.final, pieces=(piece,))
    pieces, late = with_piece(before.pieces, piece)
    return replace(
        before,
        at=min(before.at, turn.at),
        done_at=max(before.done_at, turn.at),
        received=max(before.received, received),
        live=before.live and live,
        turn=min((t for t in (before.turn, turn.turn) if t is not None), default=None),
        whole=before.whole or piece.final,
        cut=before.cut or late,
        pieces=pieces,
        lang=before.lang or turn.lang,
        region=before.region or turn.region,
        probe=before.probe or turn.probe is not None,
        emotion_due=turn.emotion_due
        if before.emotion_due is None
        else before.emotion_due or turn.emotion_due,
        latency_ms=turn.latency_ms if before.latency_ms is None else before.latency_ms,
        notes=before.notes or turn.notes,
    )


def _bounded(entry: Entry) -> Entry:
    """After its words were given to be judged, so that each is once."""
    pieces, lost = packed(entry.pieces)
    return replace(entry, pieces=pieces, cut=entry.cut or lost)


def entry_of(turn: Turn) -> str:
    """What the entry that a turn makes, or is the first piece of, is known by within its conversation."""
    return f"m:{turn.message}" if turn.streamed else turn.event


def _joins(entries: dict[str, Entry], turn: Turn) -> str:
    """Once its words are gone a message cannot be judged anew: what still comes of it is heard as a message of its own."""
    first = event = entry_of(turn)
    part = 1
    while event in entries and not entries[event].pieces:
        part += 1
        event = f"{first}:{part}"
    return event


def _with_signal(entry: Entry, signal: UserSignal | ReplySignal | None) -> Entry:
    if isinstance(signal, UserSignal):
        return replace(entry, user_signal=_heard(entry.user_signal, signal, cut=entry.cut))
    if isinstance(signal, ReplySignal):
        if entry.cut:  # what is missing may be anything
            signal = replace(signal, supported=False, cut=True, empty=False)
        return replace(entry, reply_signal=_judged(entry.reply_signal, signal))
    return entry


def _heard(before: UserSignal | None, now: UserSignal, *, cut: bool) -> UserSignal:
    """A message that goes on while the encoder fails says no less than it did: only who could judge it may clear it.

    Nor does one of which words were lost (``cut``): they may be those that were heard.
    """
    if before is None or not (cut or now.degraded or now.level is Level.UNSCORED):
        return now
    if before.level.crisis and _gravity(before.level) >= _gravity(now.level):
        blind = now.degraded or now.level is Level.UNSCORED
        return replace(before, evidence=_both(before.evidence, now.evidence)) if blind else before
    if now.level is Level.UNSCORED:  # what came before it may make a crisis of what was heard of it
        return replace(now, memory=now.memory or before.memory)
    return now


def _judged(before: ReplySignal | None, now: ReplySignal) -> ReplySignal:
    """The same for a reply: harm that was seen in it stays."""
    if before is None or not (now.degraded or now.failed or not now.supported):
        return now
    if not (before.veto or before.harm):
        return now
    return replace(
        now,
        veto=before.veto or now.veto,
        harm=tuple(sorted({*before.harm, *now.harm})),
        empty=False,
        evidence=_both(before.evidence, now.evidence),
    )


def _gravity(level: Level) -> tuple[int, bool]:
    return level.severity, level.imminent


def _both(one: tuple[Evidence, ...], other: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    return (*one, *(each for each in other if each not in one))
