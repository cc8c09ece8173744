"""From a judged reply to the record of its style in a tally: whom it answered, what it echoed, and marks that name nobody. Pure.

A conversation's mark and a reply's are hashes under a key of their own (``PURPOSE``), over the hour and the row as well: replies of one
conversation in one hour are known as such, and nobody can follow it over hours, releases or cohorts. A record lives until it
is added up, seconds; what is kept then has marks of another secret (``monitor.drift.folding``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from alerts.watch import Exchange
from detectors.conversation import Conversation, Entry
from detectors.drift.style import phrases_of, unpack
from detectors.finding import Level, ReplySignal
from detectors.notes import Cohort
from detectors.text.gist import share_in
from detectors.turn import Role
from monitor.tally.cell import Style, Where

PURPOSE: Final = "marks of styles"
"""Of the key (``Pseudonymiser.key``), the same in all workers."""
ALL: Final = "all"
COHORTS: Final = (Cohort.TERSE.value, Cohort.OPEN.value)
_MARK_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Said:
    """A reply in its conversation, and what it answers; ``one`` is None where nobody had spoken."""

    conversation: Conversation
    entry: Entry
    signal: ReplySignal
    one: Exchange | None


def row_of(track: str, release: str, basis: str, cohort: str = ALL) -> Where:
    """The row of an hour that a release's styles are added up in: of all users, or of a contrast group (J12, P4)."""
    return Where(track, release, ALL, cohort, basis)


def styles_of(said: Said, state: str, hour: datetime, key: bytes) -> Iterator[tuple[Where, Style]]:
    """One record for all users, and one more for the contrast group if there is one."""
    entry, signal, one = said.entry, said.signal, said.one
    user = one.signals[one.worst] if one else None
    cohort = _cohort(said)
    for group in (ALL, cohort) if cohort in COHORTS else (ALL,):
        where = row_of(entry.track.value, entry.release, "probe" if entry.probe else "live", group)
        yield (
            where,
            Style(
                state=state,
                level=user.level.value if user else Level.NONE.value,
                distress=round(max(s.distress for s in one.signals), 2) if one else 0.0,
                lang=signal.language,
                style=_echoing(signal, one),
                memory=signal.memory,
                cohort=cohort,
                phrases=phrases_of(signal),
                earlier=_earlier(said.conversation, entry),
                conversation=_mark(key, hour, where, said.conversation.key),
                mark=_mark(key, hour, where, entry.event),
            ),
        )


def _echoing(signal: ReplySignal, one: Exchange | None) -> str:
    """The style with what it has of the user's own words: here the turn that it answers is at hand."""
    style = unpack(signal.style)
    asked = tuple(user.gist for user in one.signals if user.gist) if one else ()
    if style is None or not asked or not signal.gist:
        return signal.style
    return style.echoing(share_in(signal.gist, asked)).pack()


def _earlier(conversation: Conversation, entry: Entry) -> int:
    """How many replies of the same release came before it."""
    said = [
        one.event
        for one in conversation.entries
        if one.role is Role.ASSISTANT
        and one.speaks
        and (one.track, one.release) == (entry.track, entry.release)
    ]
    return said.index(entry.event) if entry.event in said else 0


def _cohort(said: Said) -> str:
    """As the app noted last before the reply: with every turn, or once."""
    found = ""
    for entry in said.conversation.entries:
        if entry.event == said.entry.event:
            break
        if entry.notes is not None and entry.notes.cohort is not None:
            found = entry.notes.cohort.value
    return found


def _mark(key: bytes, hour: datetime, where: Where, name: str) -> int:
    whole = "\0".join((hour.isoformat(), *where, name)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(whole, key=key, digest_size=_MARK_BYTES).digest(), "big")
