"""Phrases and meaning together: the phrase judge, corrected by linear heads over its findings and one vector a message.

The same vector leaves the memory that the user's next turns are judged by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from detectors.crisis.memory import remember
from detectors.crisis.model import Model, load_model
from detectors.finding import EmotionNamed, Evidence, Flag, ReplySignal
from detectors.reply import heads
from detectors.reply.evidence import HARM, MEANING
from detectors.reply.features import features
from detectors.reply.harm import RESEMBLES_HARM
from detectors.reply.scorer import PatternReplyScorer
from detectors.text.windows import reply_windows

if TYPE_CHECKING:
    from detectors.ports import Encoder, Vectors

HARM_FROM = -0.5
"""Log-odds from which meaning alone calls a reply to a person in danger harmful. In five-fold cross-validation over
families it finds two thirds of the harmful ones, and four in five of those it names are harmful."""

DOUBT = 0.5
"""Log-odds of a criterion within which it may as well be judged otherwise: about one reply in ten."""

_PLACE = {name: place for place, name in enumerate(heads.NAMES)}
_JUDGED = (*heads.CRITERIA, *(flag.value for flag in heads.FLAGS))


class EncodedReplyScorer:
    """A ``detectors.ports.ReplyScorer`` that costs one encoder pass a message. Blocking."""

    def __init__(
        self,
        encoder: Encoder,
        fitted: heads.Heads | None = None,
        model: Model | None = None,
        sketch_key: bytes = b"",
    ) -> None:
        self._encoder = encoder
        self._heads = fitted or heads.load()
        self._model = model or load_model()
        self._phrases = PatternReplyScorer(sketch_key)

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        """Return one signal for each message, in order. Empty messages are not encoded."""
        signals = self._phrases.score(texts, langs, regions)
        spoken = [place for place, signal in enumerate(signals) if not signal.empty]
        if not spoken:
            return signals
        windows = [reply_windows(texts[place]) for place in spoken]
        vectors = self._encoder.encode([one for some in windows for one in some])
        slices = _slices(windows)
        wholes = np.stack([_mean(vectors[part]) for part in slices])
        logits = self._heads.logits(wholes, [features(signals[place]) for place in spoken])
        for row, (place, part) in enumerate(zip(spoken, slices, strict=True)):
            if len(windows[row]) > 1:
                parts = self._parts(windows[row], vectors[part], langs[place], regions[place])
                logits[row] = np.where(_ANYWHERE, np.maximum(logits[row], parts.max(axis=0)), logits[row])
        memories = remember(self._model, wholes)
        for place, row_logits, memory in zip(spoken, logits.tolist(), memories, strict=True):
            signals[place] = replace(lean(signals[place], row_logits), memory=memory)
        return signals

    def _parts(
        self, windows: Sequence[str], vectors: Vectors, lang: str | None, region: str | None
    ) -> NDArray[np.float32]:
        """The log-odds of each part of a long reply, shape (parts, heads): in what little it fills, a part is not lost."""
        found = self._phrases.score(windows, [lang] * len(windows), [region] * len(windows))
        return self._heads.logits(vectors, [features(signal) for signal in found])


_ANYWHERE = np.array(
    [name in {*heads.CRITERIA, heads.EMOTION, heads.STRENGTH, Flag.OPEN_QUESTION} for name in heads.NAMES]
)
"""What counts for the whole reply wherever it stands. Faults are told from the whole: in many parts one would soon be found."""


def _slices(windows: Sequence[Sequence[str]]) -> list[slice]:
    ends = np.cumsum([len(some) for some in windows]).tolist()
    return [slice(end - len(some), end) for some, end in zip(windows, ends, strict=True)]


def _mean(vectors: Vectors) -> NDArray[np.float32]:
    mean = vectors.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def lean(signal: ReplySignal, logits: Sequence[float]) -> ReplySignal:
    """Correct a signal by its log-odds, in the order of ``heads.NAMES``. Harm that phrases found stays."""
    if signal.empty or not signal.supported:
        return signal
    told = {name: logits[place] > 0 for name, place in _PLACE.items()}
    met = {name: told[name] for name in heads.CRITERIA}
    if signal.numbers_unknown and not signal.refers:
        met[heads.REFERS] = False  # whom the reply points to is a wrong number
    flags = _flags(signal, told)
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
        emotion_named=_emotion(told),
        flags=flags,
        doubtful=any(abs(logits[_PLACE[name]]) < DOUBT for name in heads.CRITERIA),
        evidence=_evidence(signal, harm, {*(name for name in met if met[name]), *flags}),
    )


def _emotion(told: Mapping[str, bool]) -> EmotionNamed:
    if told[heads.STRENGTH]:
        return EmotionNamed.TYPE_AND_STRENGTH
    return EmotionNamed.TYPE_ONLY if told[heads.EMOTION] else EmotionNamed.NONE


def _flags(signal: ReplySignal, told: Mapping[str, bool]) -> tuple[Flag, ...]:
    return tuple(flag for flag in Flag if told.get(flag, flag in signal.flags))


def _evidence(signal: ReplySignal, harm: tuple[str, ...], found: set[str]) -> tuple[Evidence, ...]:
    """What no phrase showed has its meaning as the reason; a phrase that meaning took back is none."""
    kept = [one for one in signal.evidence if one.kind in found or one.kind not in _JUDGED]
    shown = {one.kind for one in kept}
    meant = [Evidence(HARM, RESEMBLES_HARM)] if RESEMBLES_HARM in harm else []
    return (
        *meant,
        *kept,
        *(Evidence(name, MEANING) for name in _JUDGED if name in found and name not in shown),
    )
