"""Sentence windows, so that one sentence counts as much in a long turn as by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

WINDOW_LIMIT = 128  # encoder passes a turn may cost, whatever its length
_SENTENCE_AT_LEAST = 7.0  # shorter sentences join the next one
_SENTENCE_AT_MOST = 70.0  # longer ones are cut at commas
_HEAD = 480.0  # of a long text read as a whole; the encoder would cut it silently
_PACK_AT_MOST = 140.0
TURN_BELOW = 150.0  # units; about the length the encoder was trained on, read as one window
_PART_AT_MOST = 90.0

_END = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)\s+|(?<=\.\.\.)")
_COMMA = re.compile(r"(?<=[，、,:：])|\s+(?=(?:and|but|so|because|then|cuz)\b)")
_TELLING = re.compile(
    "死|活|命|消失|解脱|结束|伤|杀|再见|告别|遗|拜托|托付|走了|不在了|撑"
    r"|\b(?:die|dead|death|kill\w*|suicid\w*|alive|live|living|end|hurt|harm|goodbye|letters?|gone|exist|wake)\b",
    re.IGNORECASE,
)
_WORDED = re.compile(r"[^\W_]")
_WIDE = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a turn. ``index`` 0 is the whole turn, from 1 on its sentences in order."""

    index: int
    text: str = field(repr=False)


def units(text: str) -> float:
    """Length in characters of Chinese; a Latin letter counts 0.4."""
    wide = len(_WIDE.findall(text))
    return wide + 0.4 * (len(text) - wide)


def _cut(sentence: str, most: float) -> list[str]:
    """Cut a long sentence at commas, and where there are none, hard."""
    if units(sentence) <= most:
        return [sentence]
    out: list[str] = []
    held = ""
    size = 0.0
    for part in _COMMA.split(sentence):
        for piece in _slices(part, most):
            length = units(piece)
            if held and size + length > most:
                out.append(held)
                held, size = "", 0.0
            held += piece if not held or _WIDE.match(piece) else " " + piece.lstrip()
            size += length
    return [*out, held] if held.strip() else out


def _slices(part: str, most: float) -> list[str]:
    if units(part) <= 2 * most:
        return [part]
    step = int(2 * most)
    return [part[i : i + step] for i in range(0, len(part), step)]


def _sentences(text: str) -> list[str]:
    out: list[str] = []
    held = ""
    for piece in _END.split(text):
        if not piece or not piece.strip():
            continue
        held = f"{held} {piece.strip()}" if held and not _WIDE.search(held[-2:]) else held + piece.strip()
        if units(held) < _SENTENCE_AT_LEAST:
            continue
        out.extend(_cut(held, _SENTENCE_AT_MOST))
        held = ""
    if held:
        if out and units(held) < _SENTENCE_AT_LEAST and units(out[-1]) < _SENTENCE_AT_MOST:
            out[-1] = f"{out[-1]} {held}"
        else:
            out.append(held)
    return [sentence for sentence in out if _WORDED.search(sentence)]


def _pack(sentences: list[str], room: int) -> list[str]:
    """Put neighbours together until they fit the room; take evenly spaced ones where even that is too much."""
    if len(sentences) <= room:
        return sentences
    step = -(-len(sentences) // room)
    packs = [" ".join(sentences[i : i + step]) for i in range(0, len(sentences), step)]
    return [pack if units(pack) <= _PACK_AT_MOST else pack[: int(_PACK_AT_MOST)] for pack in packs]


def turn_windows(text: str, limit: int = WINDOW_LIMIT) -> list[Window]:
    """The turn as a whole where the encoder reads it so; a longer one as its head, its parts and its sentences.

    Parts are neighbouring sentences together, for what no single one says; never more than ``limit`` windows.
    """
    if units(text) <= TURN_BELOW:
        return [Window(0, text)]
    sentences = _sentences(text)
    if len(sentences) < 2:
        return [Window(0, text[: int(_HEAD)])]
    parts = _parts(sentences)
    room = limit - 1 - len(parts)
    if len(sentences) <= room:
        pieces = parts + sentences
    else:
        # a turn of ten thousand characters: what tells stands by itself, the rest shares what room is left
        marked = [one for one in sentences if _TELLING.search(one)][: (limit - 1) * 3 // 4]
        chosen = set(marked)
        rest = [one for one in sentences if one not in chosen]
        pieces = marked + _pack(rest, limit - 1 - len(marked))
    return [Window(0, text[: int(_HEAD)])] + [Window(i, piece) for i, piece in enumerate(pieces, start=1)]


def _parts(sentences: list[str]) -> list[str]:
    out: list[str] = []
    held = ""
    for sentence in sentences:
        if held and units(held) + units(sentence) > _PART_AT_MOST:
            out.append(held)
            held = ""
        held = f"{held} {sentence}" if held and not _WIDE.search(held[-2:]) else held + sentence
    return [*out, held] if held else out
