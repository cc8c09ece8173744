"""The only words inside a case: pieces of streamed messages. They are taken out and sealed by themselves.

So they can be let go of by themselves, too: a case whose row has no words any more has no pieces.
"""

from __future__ import annotations

import json
from dataclasses import replace

from alerts.case import Case
from monitor.crypto.keyring import Keyring
from monitor.errors import KeyMissing


def without_words(case: Case, keyring: Keyring) -> tuple[Case, bytes | None]:
    """Return the case without any text, and its text sealed; None if there is none."""
    words = [piece.text for entry in case.conversation.entries for piece in entry.pieces]
    if not words:
        return case, None
    sealed = keyring.seal(
        json.dumps(words).encode("ascii"), place(case.conversation.key)
    )  # ascii: lone surrogates survive
    return _with(case, [""] * len(words)), sealed


def with_words(case: Case, sealed: bytes | None, keyring: Keyring) -> Case:
    """Put the words back. Where they do not open, the message stays as it was judged: no decision needs them."""
    if sealed is None:
        return without_pieces(case)
    try:
        words: list[str] = json.loads(keyring.open(sealed, place(case.conversation.key)))
    except KeyMissing:
        return without_pieces(case)
    return _with(case, words)


def without_pieces(case: Case) -> Case:
    if not any(entry.pieces for entry in case.conversation.entries):
        return case
    entries = tuple(replace(entry, pieces=()) for entry in case.conversation.entries)
    return replace(case, conversation=replace(case.conversation, entries=entries))


def _with(case: Case, words: list[str]) -> Case:
    left = iter(words)
    entries = tuple(
        replace(entry, pieces=tuple(replace(piece, text=next(left, "")) for piece in entry.pieces))
        if entry.pieces
        else entry
        for entry in case.conversation.entries
    )
    return replace(case, conversation=replace(case.conversation, entries=entries))


def place(conversation: str) -> str:
    """Where words belong; they open nowhere else."""
    return f"case:{conversation}"
