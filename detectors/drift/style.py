"""The style of one assistant message: a level for each feature and the ids of its sentences. Holds no words (M7)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from detectors.drift import address, surface
from detectors.drift.feature import FEATURES, READING, Feature, level
from detectors.drift.sentences import ID_BYTES, sentence_ids
from detectors.finding import EmotionNamed, Flag, ReplySignal
from detectors.reply import text as texts
from detectors.reply.conduct import advising
from detectors.reply.evidence import FORMULA, GUIDANCE
from detectors.text.gist import share_in

_LETTERS: Final = "abcdefghijklmnopqrst"
_LETTER_OF: Final = {letter: place for place, letter in enumerate(_LETTERS)}
_EMOTION: Final = {EmotionNamed.NONE: 0.0, EmotionNamed.TYPE_ONLY: 0.5, EmotionNamed.TYPE_AND_STRENGTH: 1.0}
_ECHO: Final = FEATURES.index(Feature.ECHO)


@dataclass(frozen=True, slots=True)
class Style:
    """``levels`` in the order of ``FEATURES``, 0-19 each; ``sentences`` are ids, ascending."""

    levels: tuple[int, ...]
    sentences: tuple[int, ...] = field(default=(), repr=False)

    def pack(self) -> str:
        """Some eighty characters that a JSON document can hold: version, a letter a feature, the ids."""
        ids = b"".join(one.to_bytes(ID_BYTES, "big") for one in self.sentences)
        return READING + "".join(_LETTERS[one] for one in self.levels) + base64.b85encode(ids).decode()

    def echoing(self, share: float) -> Style:
        """The same with the share of the user's own words, which only the conversation tells."""
        return replace(self, levels=(*self.levels[:_ECHO], level(share), *self.levels[_ECHO + 1 :]))


def unpack(packed: str) -> Style | None:
    """None for nothing, for damage, and for a style read in another version."""
    letters = packed[len(READING) : len(READING) + len(FEATURES)]
    if not packed.startswith(READING) or len(letters) < len(FEATURES):
        return None
    try:
        levels = tuple(_LETTER_OF[letter] for letter in letters)
        ids = base64.b85decode(packed[len(READING) + len(FEATURES) :])
    except (KeyError, ValueError, binascii.Error):
        return None
    if len(ids) % ID_BYTES:
        return None
    return Style(
        levels, tuple(int.from_bytes(ids[at : at + ID_BYTES], "big") for at in range(0, len(ids), ID_BYTES))
    )


def read_style(text: str, signal: ReplySignal, *, asked: Sequence[str] = (), key: bytes = b"") -> Style:
    """The style of a message that was judged. What ``signal`` holds is not sought again.

    ``asked`` are the gists of the user turns that it answers, where they are at hand (else ``Style.echoing`` later);
    ``key`` keys the ids of sentences.
    """
    reply = texts.read(text)
    sentences = reply.said.split("\n") if reply.said else []
    shares = {
        Feature.LENGTH: surface.length(text),
        Feature.QUESTIONS: surface.questions(sentences),
        Feature.ADVICE: min(1.0, advising(reply) / len(sentences)) if sentences else 0.0,
        Feature.ECHO: share_in(signal.gist, tuple(asked)) if asked else 0.0,
        Feature.FORMALITY: address.formality(text, signal.language),
        Feature.EMOJI: surface.emoji(text),
        Feature.LAYOUT: surface.layout(text),
        Feature.EXCLAMATION: surface.exclamations(sentences),
        Feature.OTHER_SCRIPT: surface.other_script(text, signal.language),
        **_judged(signal),
    }
    return Style(tuple(level(shares[one]) for one in FEATURES), sentence_ids(sentences, key))


def phrases_of(signal: ReplySignal) -> tuple[str, ...]:
    """The kinds of phrases found in a reply, each once, as a sketch counts them: what they show, and which family of ours."""
    return tuple(sorted({f"{one.kind}.{one.source}" for one in signal.evidence}))


def _judged(signal: ReplySignal) -> dict[Feature, float]:
    """What the judges of replies found, each as the share of its signs that were met."""
    marks = {(one.kind, one.source) for one in signal.evidence}
    kinds = {one.kind for one in signal.evidence}
    flags = set(signal.flags)
    return {
        Feature.WARMTH: _met((GUIDANCE, "steadies") in marks, Flag.TOO_WARM in flags),
        Feature.VALIDATION: _met(signal.holds_feeling, Flag.VALIDATION in flags),
        Feature.RESTATEMENT: _met(Flag.RESTATEMENT in flags),
        Feature.TEMPLATE: _met(
            Flag.TEMPLATE in flags, Flag.RIGID_SCRIPT in flags, FORMULA in kinds, Flag.PLATITUDE in flags
        ),
        Feature.EMOTION_NAMED: _EMOTION[signal.emotion_named],
        Feature.REFERRAL: _met(signal.refers),
        Feature.BOUNDARY: _met(signal.boundary),
        Feature.PRESSURE: _met(Flag.PRESSURE in flags, Flag.COERCIVE in flags),
    }


def _met(*signs: bool) -> float:
    return sum(signs) / len(signs)
