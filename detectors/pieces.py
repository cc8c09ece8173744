"""The pieces of a streamed message: in order, together where they are many, bounded in what is kept of them.

A reply that comes word by word has thousands. The last ones stay apart, as others may still come between them; those
before grow together. What is lost or misplaced all the same makes the message ``cut``: it is judged, and never as good.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from detectors.conversation import Piece, Place

APART = 512  # of the last pieces; ten seconds of a fast stream
TOGETHER = 256  # characters of pieces that have grown together
KEPT = 65_536  # characters of one message from batch to batch: its head and its tail, half of it each
READ = 2 * KEPT  # the same while a batch is judged: what was kept, and as much that is new
EVENTS = 4_096  # of pieces that have grown together, remembered for repeats
_SEAM = "\n"  # between head and tail, lest words that never met make a new one


def with_piece(pieces: tuple[Piece, ...], piece: Piece) -> tuple[tuple[Piece, ...], bool]:
    """Put a piece in its place. The second is True where that is within pieces that have grown together: it is set behind them."""
    place = _place(piece)
    index = bisect_right(pieces, place, key=_place)
    late = index > 0 and place < _last(pieces[index - 1])
    return (*pieces[:index], piece, *pieces[index:]), late


def joined_text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in _shortened(pieces, READ))


def packed(pieces: tuple[Piece, ...]) -> tuple[tuple[Piece, ...], bool]:
    """Bound what is kept. The second is True where words were lost."""
    kept = _shortened(pieces, KEPT)
    before = max(len(kept) - APART, 0)
    return (*_remembering(_grown_together(kept[:before])), *kept[before:]), kept is not pieces


def events(pieces: Iterable[Piece]) -> Iterable[str]:
    for piece in pieces:
        yield piece.event
        yield from piece.others


def _place(piece: Piece) -> Place:
    return Place(piece.turn or 0, piece.final, piece.at, piece.sequence, piece.event)


def _last(piece: Piece) -> Place:
    return piece.last or _place(piece)


def _shortened(pieces: Sequence[Piece], most: int) -> Sequence[Piece]:
    """Head and tail; a piece between them stays without its words."""
    surplus = sum(len(piece.text) for piece in pieces) - most
    if surplus <= 0:
        return pieces
    head, tail = most // 2, most // 2 + surplus + len(_SEAM)
    out, before = [], 0
    for piece in pieces:
        start, end = head - before, tail - before
        seam = _SEAM if 0 <= start < len(piece.text) else ""
        text = piece.text[: max(start, 0)] + seam + piece.text[max(end, 0) :]
        before += len(piece.text)
        out.append(piece if text == piece.text else replace(piece, text=text))
    return tuple(out)


def _grown_together(pieces: Sequence[Piece]) -> list[Piece]:
    """Any two neighbours have more than ``TOGETHER`` characters between them: so many there are at most."""
    runs: list[list[Piece]] = []
    length = 0
    for piece in pieces:
        if runs and length + len(piece.text) <= TOGETHER:
            runs[-1].append(piece)
            length += len(piece.text)
        else:
            runs.append([piece])
            length = len(piece.text)
    return [_one(run) if len(run) > 1 else run[0] for run in runs]


def _one(run: Sequence[Piece]) -> Piece:
    first, *others = run
    return replace(
        first,
        text="".join(piece.text for piece in run),
        last=max(map(_last, run)),
        others=(*first.others, *events(others)),
    )


def _remembering(pieces: Sequence[Piece]) -> list[Piece]:
    """The latest events: what is sent again was mostly sent just now."""
    room = EVENTS
    out = []
    for piece in reversed(pieces):
        others = piece.others[max(len(piece.others) - room, 0) :]
        room -= len(others)
        out.append(piece if len(others) == len(piece.others) else replace(piece, others=others))
    return out[::-1]
