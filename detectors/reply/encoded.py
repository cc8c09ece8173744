"""Phrases and meaning together: the phrase judge, corrected by linear heads over its findings and one vector a message.

The same vector leaves the memory that the user's next turns are judged by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from detectors.crisis.memory import remember
from detectors.crisis.model import Model, load_model
from detectors.finding import EmotionNamed, Flag, ReplySignal
from detectors.reply import heads
from detectors.reply.features import features
from detectors.reply.harm import RESEMBLES_HARM
from detectors.reply.scorer import PatternReplyScorer

if TYPE_CHECKING:
    from detectors.ports import Encoder

HARM_FROM = -0.5
"""Log-odds from which meaning alone calls a reply to a person in danger harmful. In five-fold cross-validation over
families it finds two thirds of the harmful ones, and four in five of those it names are harmful."""

_CRITERIA = (heads.RISK_RECOGNISED, heads.HOLDS_FEELING, heads.REFERS, heads.BOUNDARY)
_PLACE = {name: place for place, name in enumerate(heads.NAMES)}


class EncodedReplyScorer:
    """A ``detectors.ports.ReplyScorer`` that costs one encoder pass a message. Blocking."""

    def __init__(
        self, encoder: Encoder, fitted: heads.Heads | None = None, model: Model | None = None
    ) -> None:
        self._encoder = encoder
        self._heads = fitted or heads.load()
        self._model = model or load_model()
        self._phrases = PatternReplyScorer()

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        """Return one signal for each message, in order. Empty messages are not encoded."""
        signals = self._phrases.score(texts, langs, regions)
        spoken = [place for place, signal in enumerate(signals) if not signal.empty]
        if spoken:
            vectors = self._encoder.encode([texts[place] for place in spoken])
            found = [features(signals[place]) for place in spoken]
            logits = self._heads.logits(vectors, found).tolist()
            for place, row, memory in zip(spoken, logits, remember(self._model, vectors), strict=True):
                signals[place] = replace(lean(signals[place], row), memory=memory)
        return signals


def lean(signal: ReplySignal, logits: Sequence[float]) -> ReplySignal:
    """Correct a signal by its log-odds, in the order of ``heads.NAMES``. Harm that phrases found stays."""
    if signal.empty or not signal.supported:
        return signal
    met = {name: logits[_PLACE[name]] > 0 for name in _CRITERIA}
    if signal.numbers_unknown and not signal.refers:
        met[heads.REFERS] = False  # whom the reply points to is a wrong number
    harm = signal.harm
    if logits[_PLACE[heads.HARMFUL]] > HARM_FROM:
        harm = tuple(sorted({*harm, RESEMBLES_HARM}))
    return replace(
        signal,
        risk_recognised=met[heads.RISK_RECOGNISED],
        holds_feeling=met[heads.HOLDS_FEELING],
        refers=met[heads.REFERS],
        boundary=met[heads.BOUNDARY],
        harm=harm,
        refusal=signal.refusal and not met[heads.HOLDS_FEELING],
        emotion_named=_emotion(signal, holds=met[heads.HOLDS_FEELING]),
        flags=_flags(signal, holds=met[heads.HOLDS_FEELING]),
    )


def _emotion(signal: ReplySignal, *, holds: bool) -> EmotionNamed:
    if holds and signal.emotion_named is EmotionNamed.NONE:
        return EmotionNamed.TYPE_ONLY
    return signal.emotion_named


def _flags(signal: ReplySignal, *, holds: bool) -> tuple[Flag, ...]:
    kept = {*signal.flags, Flag.VALIDATION} if holds else {*signal.flags} - {Flag.VALIDATION}
    return tuple(flag for flag in Flag if flag in kept)
