"""The scorer of the trained encoder: each window through one pass and a linear layer a label; the strongest window wins.

A turn of a few sentences is read as a whole, as the encoder was trained to. Where that leaves a doubt, it is read sentence
by sentence, too: a name or a cat that is told of in the same breath hides much of a plain wish to die. On families kept
for calibration (1,028 rows) recall rose from .857 to .875 and false alarms from .102 to .107; with a harmless sentence set
after each row .673 to .782 and .112 to .129, before each .832 to .880 and .133 to .138. It costs 11 % more passes over
rows that were written to be doubtful, 2 % more over counselling dialogues.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from detectors.crisis.calibration import Calibration, load_calibration, strength
from detectors.crisis.explicit import heard_in
from detectors.crisis.memory import Memory, pack
from detectors.crisis.model import Floats, Model, load_model
from detectors.crisis.policy import Policy, load_policy
from detectors.crisis.signal import Said
from detectors.distress.lexicon import cues_in, emotions_in
from detectors.distress.marks import marks_in
from detectors.finding import Cue, Emotion, Evidence, Level, UserSignal
from detectors.ports import Encoder
from detectors.text import (
    UNDETERMINED,
    WORDLESS,
    Normal,
    Window,
    detect_language,
    normalise,
    primary,
    sentence_windows,
    tells,
    turn_windows,
)
from detectors.text.gist import gist

# Strengths as a whole, as logits of the shipped weights (chances of about .03, .13 and .62 in English): from the first
# on those sentences are read that have a word of death, leaving or harm, from the second on all, from the third on none.
_FAINT, _DOUBT, _SURE = -6.0, -2.5, 3.3
_CLOSER = 0.7  # how far from its turn towards itself a sentence is judged: alone it may be somebody else's, or long ago
_RISKY = 0.0  # strength from which a turn is remembered by its strongest window
_EVIDENCE = 4  # reasons kept of one turn


@dataclass(frozen=True, slots=True)
class _Text:
    normal: Normal = field(repr=False)
    windows: list[Window] = field(repr=False)
    language: str
    gist: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of the bank that are risky, or those that are not, as unit vectors."""

    rows: NDArray[np.intp] = field(repr=False)
    directions: Floats = field(repr=False)

    @classmethod
    def of(cls, model: Model, *, crisis: bool) -> _Side:
        rows = np.flatnonzero(model.risky == crisis)
        bank = model.bank[rows].astype(np.float32)
        return cls(rows, bank / np.linalg.norm(bank, axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A turn and what two heads say of its windows; of its window ``best`` the strength, the chance and the level."""

    text: _Text
    vectors: Floats = field(repr=False)
    logits: Floats
    levels: Floats
    best: int
    strength: float
    score: float
    level: Level


class TrainedScorer:
    """A ``UserScorer`` (detectors.ports). Deterministic for a deterministic encoder; holds no text of users."""

    def __init__(
        self,
        encoder: Encoder,
        model: Model | None = None,
        calibration: Calibration | None = None,
        policy: Policy | None = None,
        sketch_key: bytes = b"",
    ) -> None:
        self._sketch_key = sketch_key
        self._encoder = encoder
        self._model = model or load_model()
        self._calibration = calibration or load_calibration()
        self._policy = policy or load_policy()
        self._sides = {crisis: _Side.of(self._model, crisis=crisis) for crisis in (True, False)}

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        """One signal for each text, in order. The encoder is called once for all texts, and once more for the doubtful."""
        read = [_read(text, lang, self._sketch_key) for text, lang in zip(texts, langs, strict=True)]
        whole = zip(read, self._vectors([text.windows for text in read]), strict=True)
        weighed = [self._weigh(text, vectors) for text, vectors in whole]
        for place, closer in self._closer(weighed).items():
            weighed[place] = closer
        return [self._judge(one) for one in weighed]

    def _vectors(self, texts: Sequence[Sequence[Window]]) -> list[Floats]:
        """One array a text, a row a window. One call of the encoder, or none where there is nothing to read."""
        flat = [_unended(window.text) for windows in texts for window in windows]
        if not flat:
            return []
        rows = np.asarray(self._encoder.encode(flat), dtype=np.float32) * np.float32(self._model.scale)
        return np.split(rows, np.cumsum([len(windows) for windows in texts])[:-1])

    def _closer(self, weighed: Sequence[_Weighed]) -> dict[int, _Weighed]:
        """By place: the turns that leave a doubt as a whole, weighed with their sentences."""
        sentences = {
            place: found
            for place, one in enumerate(weighed)
            if _FAINT <= one.strength < _SURE and len(one.text.windows) == 1
            if (found := _sentences(one.text.normal.text, all_of_them=one.strength >= _DOUBT))
        }
        more = zip(sentences.items(), self._vectors(list(sentences.values())), strict=True)
        closer = {}
        for (place, found), vectors in more:
            whole = weighed[place]
            text = replace(whole.text, windows=whole.text.windows + found)
            told = self._weigh(text, _within(whole.vectors, vectors))
            # who may act at any moment is not taken for calmer
            if told.level.imminent or not whole.level.imminent:
                closer[place] = told
        return closer

    def _weigh(self, text: _Text, vectors: Floats) -> _Weighed:
        """The strongest window of those that are a crisis, each by the threshold of its own level; else of all."""
        logits, levels = self._model.heads["crisis"](vectors)[:, 0], self._model.heads["level"](vectors)
        strengths = [strength(float(one), odds) for one, odds in zip(logits, levels, strict=True)]
        chances = [self._calibration.chance(one, text.language) for one in strengths]
        decided = [
            self._calibration.decide(chance, odds, text.language)
            for chance, odds in zip(chances, levels, strict=True)
        ]
        best = max(range(len(decided)), key=lambda place: (decided[place].crisis, strengths[place]))
        return _Weighed(text, vectors, logits, levels, best, strengths[best], chances[best], decided[best])

    def _judge(self, one: _Weighed) -> UserSignal:
        text, vectors, best, score, level = one.text, one.vectors, one.best, one.score, one.level
        heads = {name: self._model.heads[name](vectors) for name in ("distress", "emotions", "cues")}
        distress = float(_sigmoid(heads["distress"][:, 0]).max())
        # a harmless turn is remembered as a whole, a risky one by what made it so
        told = best if one.strength >= _RISKY else 0
        memory = Memory(np.tanh(self._model.memory(vectors[told])), float(one.logits[told]), one.levels[told])
        return UserSignal(
            level=level,
            score=round(score, 4),
            distress=round(max(distress, self._policy.distress_floor.get(level, 0.0)), 3),
            emotions=self._emotions(text, heads["emotions"]),
            cues=self._cues(text, heads["cues"][best], level),
            evidence=self._evidence(text, best, memory, level) + marks_in(text.normal.text),
            language=text.language,
            memory=pack(memory, self._model),
            gist=text.gist,
        )

    def _emotions(self, text: _Text, logits: Floats) -> tuple[Emotion, ...]:
        chance = _sigmoid(logits).max(axis=0)
        named = emotions_in(text.normal.text)
        scored = {
            emotion: float(chance[i]) + (0.2 if emotion in named else 0.0)
            for i, emotion in enumerate(Emotion)
        }
        ranked = sorted(scored, key=lambda emotion: -scored[emotion])[:3]
        return tuple(emotion for emotion in ranked if scored[emotion] >= self._policy.named_from["emotion"])

    def _cues(self, text: _Text, logits: Floats, level: Level) -> tuple[Cue, ...]:
        found = set(cues_in(text.normal.text))
        chance = _sigmoid(logits)
        found |= {cue for i, cue in enumerate(Cue) if chance[i] >= self._policy.named_from["cue"]}
        if text.normal.obfuscated and level.crisis:
            found.add(Cue.OBFUSCATED)
        return tuple(cue for cue in Cue if cue in found)

    def _evidence(self, text: _Text, best: int, memory: Memory, level: Level) -> tuple[Evidence, ...]:
        """The nearest family of our corpora on the side that won, then the explicit signals of the window."""
        window = text.windows[best]
        side = self._sides[level.crisis]
        out = []
        if len(side.rows):
            nearness = side.directions @ memory.trace
            best_row = int(np.argmax(nearness))
            nearest = int(side.rows[best_row])
            out.append(
                Evidence(
                    self._model.kinds[nearest],
                    self._model.families[nearest],
                    window.index,
                    round(float(nearness[best_row] / np.linalg.norm(memory.trace)), 3),
                )
            )
        for heard in heard_in(window.text):
            kind = {Said.NEGATED: "negation", Said.OTHER: "third_party_past"}.get(heard.said, "plain")
            out.append(Evidence(kind, heard.signal.name, window.index))
        return tuple(out[:_EVIDENCE])


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30, 30))), dtype=np.float32)


def _within(whole: Floats, sentences: Floats) -> Floats:
    """The turn's row, then its sentences' rows, each drawn towards it. All that is read of a row is linear in it."""
    return np.concatenate([whole, whole + np.float32(_CLOSER) * (sentences - whole)])


def _sentences(text: str, *, all_of_them: bool) -> list[Window]:
    return [one for one in sentence_windows(text) if all_of_them or tells(one.text) or heard_in(one.text)]


def _unended(text: str) -> str:
    """Whether somebody sets a full stop says nothing, and must change nothing."""
    return text.rstrip(" \n。.") or text


def _read(text: str, hint: str | None, sketch_key: bytes) -> _Text:
    normal = normalise(text)
    found = detect_language(normal.text)
    language = found if found != UNDETERMINED else primary(hint)
    if language == UNDETERMINED and WORDLESS.fullmatch(normal.text):
        language = WORDLESS_LANGUAGE
    return _Text(normal, turn_windows(normal.text), language, gist(text, sketch_key))


WORDLESS_LANGUAGE = "zxx"
"""What has no words is judged in any language (BCP 47: no linguistic content)."""
