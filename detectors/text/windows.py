"""Sentence windows, so that one sentence counts as much in a long turn as by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

WINDOW_LIMIT = 128  # encoder passes a turn may cost, whatever its length
_SENTENCE_AT_LEAST = 7.0  # shorter sentences join the next one, unless they may tell something
_SENTENCE_AT_MOST = 70.0  # longer ones are cut at commas
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
        if units(held) < _SENTENCE_AT_LEAST and not tells(held):
            continue
        out.extend(_cut(held, _SENTENCE_AT_MOST))
        held = ""
    if held:
        if out and units(held) < _SENTENCE_AT_LEAST and _may_grow(out[-1]):
            out[-1] = f"{out[-1]} {held}"
        else:
            out.append(held)
    return [sentence for sentence in out if _WORDED.search(sentence)]


def _may_grow(sentence: str) -> bool:
    """What tells something stays by itself: a few words more would hide it."""
    return units(sentence) < _SENTENCE_AT_MOST and not tells(sentence)


def tells(sentence: str) -> bool:
    """It has a word of death, leaving or harm: it may be the one that matters."""
    return _TELLING.search(sentence) is not None


def turn_windows(text: str, limit: int = WINDOW_LIMIT) -> list[Window]:
    """The turn as a whole where the encoder reads it so; a longer one as its head, its parts and its sentences.

    Parts are neighbouring sentences together, for what no single one says; between them they hold every sentence.
    The windows that are left are for the sentences, telling ones first; never more than ``limit`` windows.
    """
    length = units(text)
    if length <= TURN_BELOW:
        return [Window(0, text)]
    head = Window(0, text[: int(len(text) * TURN_BELOW / length)])
    sentences = _sentences(text)
    parts = _parts(sentences, max(_PART_AT_MOST, 2 * length / limit))[: limit - 1]
    room = limit - 1 - len(parts)
    if len(sentences) > room:
        sentences = sorted(sentences, key=lambda one: not tells(one))[:room]
    return [head] + [Window(i, piece) for i, piece in enumerate(parts + sentences, start=1)]


def sentence_windows(text: str) -> list[Window]:
    """The sentences of a turn that is read as a whole, where there are two or more; else nothing."""
    sentences = _sentences(text) if units(text) <= TURN_BELOW else []
    if len(sentences) < 2:
        return []
    return [Window(i, sentence) for i, sentence in enumerate(sentences, start=1)]


REPLY_BELOW = 300.0  # units; as long as the replies that the heads were fitted on, which are read whole
_REPLY_PART = 200.0
_REPLY_PARTS = 24  # passes a reply may cost, whatever its length


def reply_windows(text: str) -> list[str]:
    """A reply as a whole where the heads know such lengths; a longer one in parts of neighbouring sentences."""
    length = units(text)
    if length <= REPLY_BELOW:
        return [text]
    return _parts(_sentences(text), max(_REPLY_PART, 2 * length / _REPLY_PARTS)) or [text]


def _parts(sentences: list[str], most: float) -> list[str]:
    out: list[str] = []
    held: list[str] = []
    size = 0.0
    for sentence in sentences:
        length = units(sentence)
        if held and size + length > most:
            out.append("".join(held))
            held, size = [], 0.0
        held += [" ", sentence] if held and not _WIDE.search(held[-1][-2:]) else [sentence]
        size += length
    return [*out, "".join(held)] if held else out
