"""The scorer of this version: nearest exemplars, linear heads and explicit signals, fused window by window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from detectors.crisis.bank import Bank, load_bank
from detectors.crisis.features import Reading, judged_windows, nearness, pattern_features, read_window
from detectors.crisis.fusion import (
    CONTINUOUS,
    CUES,
    EMOTIONS,
    Floats,
    Fusion,
    Heads,
    load_fusion,
    load_heads,
    sigmoid,
)
from detectors.crisis.levels import choose_level
from detectors.crisis.policy import Policy, load_policy
from detectors.crisis.signal import Heard, Said
from detectors.crisis.wording import weigh
from detectors.distress.lexicon import blend, cues_in, emotions_in, intensity
from detectors.distress.marks import marks_in
from detectors.finding import Cue, Emotion, Evidence, Level, UserSignal
from detectors.ports import Encoder
from detectors.text import UNDETERMINED, WORDLESS, Normal, Window, detect_language, normalise

SCORED_LANGUAGES = frozenset({"zh", "en"})
_EVIDENCE = 4  # reasons kept of one turn


@dataclass(frozen=True, slots=True)
class _Judged:
    """One window with its score, kept until the strongest of a turn is known."""

    window: Window = field(repr=False)
    row: int
    reading: Reading
    features: dict[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class _Text:
    normal: Normal
    windows: list[Window] = field(repr=False)
    language: str
    scored: bool  # a language the weights were fitted for, or no words at all


class ExemplarScorer:
    """A ``UserScorer`` (detectors.ports). Deterministic for a deterministic encoder; holds no text of users."""

    def __init__(
        self,
        encoder: Encoder,
        bank: Bank,
        *,
        fusion: Fusion | None = None,
        fusion_other: Fusion | None = None,
        heads: Heads | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._encoder = encoder
        self._bank = bank
        self._fusion = fusion or load_fusion()
        self._fusion_other = fusion_other or load_fusion("crisis_fusion_other.json")
        self._heads = heads or load_heads()
        self._policy = policy or load_policy()

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        """One signal for each text, in order. All windows of all texts go to the encoder in one call."""
        read = [_read(text, lang) for text, lang in zip(texts, langs, strict=True)]
        flat = [window.text for text in read for window in text.windows]
        if not flat:
            return []
        vectors = np.asarray(self._encoder.encode(flat), dtype=np.float32)
        cosines, crisis, contrast = nearness(vectors, self._bank)
        meaning = self._heads.meaning(vectors)
        signals = []
        row = 0
        for text in read:
            judged = []
            for window in text.windows:
                reading = read_window(window.text)
                features = pattern_features(reading, window.text) | {
                    "crisis_nearness": float(crisis[row]),
                    "contrast_nearness": float(contrast[row]),
                    "meaning": float(meaning[row]),
                    "wording": weigh(window.text, self._heads.wording, self._heads.wording_bias),
                }
                fusion = self._fusion if text.scored else self._fusion_other
                score = float(sigmoid(np.asarray(fusion.logit(features), dtype=np.float32)))
                judged.append(_Judged(window, row, reading, features, score))
                row += 1
            signals.append(self._judge(text, judged, vectors, cosines))
        return signals

    def _judge(self, text: _Text, judged: list[_Judged], vectors: Floats, cosines: Floats) -> UserSignal:
        best = max(judged, key=lambda one: (one.score, -one.window.index))
        level = self._level(text, best, vectors, cosines)
        rows = [one.row for one in judged]
        head = float(np.clip(self._heads.read("distress", vectors[rows]), 0, 1).max())
        distress = blend(head, intensity(text.normal.text))
        if level.crisis:
            distress = max(distress, self._policy.distress_floor[level])
        return UserSignal(
            level=level,
            score=round(best.score, 4),
            distress=round(min(distress, 1.0), 3),
            emotions=self._emotions(text, vectors[rows]),
            cues=self._cues(text, best, vectors, level),
            evidence=self._evidence(best, cosines, level) + marks_in(text.normal.text),
            language=text.language,
        )

    def _level(self, text: _Text, best: _Judged, vectors: Floats, cosines: Floats) -> Level:
        threshold = self._policy.threshold if text.scored else self._policy.threshold_other_language
        if best.score < threshold:
            return Level.NONE if text.scored else Level.UNSCORED
        raw = self._heads.read("levels", vectors[best.row : best.row + 1])[0]
        head = raw - float(np.log(np.exp(raw - raw.max()).sum()) + raw.max())
        return choose_level(head, cosines[best.row], best.reading, self._bank, self._policy)

    def _emotions(self, text: _Text, vectors: Floats) -> tuple[Emotion, ...]:
        chance = sigmoid(self._heads.read("emotions", vectors)).max(axis=0)
        named = emotions_in(text.normal.text)
        scored = {
            emotion: float(chance[i]) + (0.5 if emotion in named else 0.0)
            for i, emotion in enumerate(EMOTIONS)
        }
        ranked = sorted(scored, key=lambda emotion: -scored[emotion])[:3]
        return tuple(emotion for emotion in ranked if scored[emotion] >= self._policy.named_from["emotion"])

    def _cues(self, text: _Text, best: _Judged, vectors: Floats, level: Level) -> tuple[Cue, ...]:
        found = set(cues_in(text.normal.text))
        chance = sigmoid(self._heads.read("cues", vectors[best.row : best.row + 1]))[0]
        found |= {Cue(name) for i, name in enumerate(CUES) if chance[i] >= self._policy.named_from["cue"]}
        if text.normal.obfuscated and level.crisis:
            found.add(Cue.OBFUSCATED)
        if level.crisis and "laughter" in best.reading.shields:
            found.add(Cue.HUMOUR_WRAPPED)
        if level is Level.PREPARATION and any(
            h.signal.name.endswith(("farewell", "thanks_bye")) for h in best.reading.heard
        ):
            found.add(Cue.FAREWELL)
        return tuple(cue for cue in Cue if cue in found)

    def _evidence(self, best: _Judged, cosines: Floats, level: Level) -> tuple[Evidence, ...]:
        """The nearest exemplar on the side that won, then the signals and shields that weighed most."""
        shares = self._fusion.shares(best.features)
        side = self._bank.risky if level.crisis else ~self._bank.risky
        rows = np.flatnonzero(side)
        nearest = self._bank.exemplars[int(rows[int(np.argmax(cosines[best.row][rows]))])]
        index = best.window.index
        vector = sum(shares[name] for name in CONTINUOUS)
        out = [Evidence(nearest.kind, nearest.family, index, round(vector, 3))]
        for heard in best.reading.heard:
            kind, share = _meant(heard)
            out.append(Evidence(kind, heard.signal.name, index, round(shares[share], 3)))
        out += [
            Evidence(_SHIELD_KIND.get(kind, kind), "shield", index, round(shares[f"shield_{kind}"], 3))
            for kind in sorted(best.reading.shields)
        ]
        return tuple(out[:_EVIDENCE])


_SHIELD_KIND = {"laughter": "humour"}


def _meant(heard: Heard) -> tuple[str, str]:
    """The kind of evidence a signal is, and the feature whose weight it carries."""
    if heard.said is Said.NEGATED:
        return "negation", "negated"
    if heard.said is Said.OTHER:
        return "third_party_past", "other_said"
    if heard.signal.strength == 2:
        return "plain", f"own_{heard.signal.level.value}"
    return "plain", "own_topic" if heard.signal.name.endswith("topic_suicide") else "own_soft"


def _read(text: str, hint: str | None) -> _Text:
    normal = normalise(text)
    windows = judged_windows(normal.text)
    found = detect_language(normal.text)
    spoken = (hint or "").partition("-")[0].lower()
    language = found if found != UNDETERMINED else spoken or UNDETERMINED
    wordless = WORDLESS.fullmatch(normal.text) is not None
    return _Text(normal, windows, language, wordless or language in SCORED_LANGUAGES)


def load_scorer(encoder: Encoder, cache: Path | None = None) -> ExemplarScorer:
    """The scorer with our corpora as its bank; ``cache`` keeps the bank's vectors between starts."""
    return ExemplarScorer(encoder, load_bank(encoder, cache))
