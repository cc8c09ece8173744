"""From one window of text and its vector to the few numbers that the fusion weighs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from detectors.crisis.bank import Bank
from detectors.crisis.shields import SHIELDS, URGENT, shields_in
from detectors.crisis.signal import Heard, Said, Signal, meant, read
from detectors.crisis.signals_en import SIGNALS_EN
from detectors.crisis.signals_other import SIGNALS_OTHER
from detectors.crisis.signals_zh import SIGNALS_ZH
from detectors.finding import CRISIS_LEVELS
from detectors.ports import Vectors
from detectors.text import Window, split_windows

SIGNALS = SIGNALS_ZH + SIGNALS_EN + SIGNALS_OTHER
_TOP = 3

# sentences that get a window of their own first, where a turn has more sentences than windows
SALIENT = re.compile(
    r"死|活|命|消失|解脱|结束|伤|杀|再见|告别|遗|自杀|拜托|托付|走了|不在了|撑|"
    r"\b(?:die|dead|death|kill\w*|suicid\w*|alive|live|living|end|hurt|harm|goodbye|bye|letters?|gone|exist|wake|sorry|never)\b",
    re.IGNORECASE,
)
_STORY = frozenset({"fiction_lyrics", "news_study", "quoted_assistant", "hypothetical_philosophy"})
_PAST = frozenset({"third_party_past", "recovered", "bereavement"})
_PLAY = frozenset({"idiom_hyperbole", "laughter", "technical_game"})

NAMES: tuple[str, ...] = (
    "crisis_nearness",
    "contrast_nearness",
    "meaning",
    "wording",
    *(f"own_{level.value}" for level in CRISIS_LEVELS),
    "own_soft",
    "own_topic",
    "other_said",
    "other_urgent",
    "negated",
    *(f"shield_{shield.kind}" for shield in SHIELDS),
    "strong_in_story",
    "strong_in_past",
    "strong_in_play",
    "only_negated",
    "only_other",
    "short",
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What patterns find in one window: signals with how they are meant, shields, urgency."""

    heard: tuple[Heard, ...]
    shields: frozenset[str]
    urgent: bool

    def own(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.said is Said.OWN]


_CLAUSE_ENDS = re.compile(r"[,，。.!！?？;；:\n]")
_CLAUSES = 3  # clauses that get a window of their own
_CLAUSE_FROM = 6  # characters a turn must have beyond its clause
_CLAUSE_REACH = 60  # characters looked around for the ends of a clause
_MATCHES = 5  # of one signal in a turn
_LATIN = re.compile(r"[a-z]{2}")


def judged_windows(text: str) -> list[Window]:
    """The windows of a turn, and each clause that says something outright.

    Unhappy talk around a last clause "…，想死" must not drown it.
    """
    windows = split_windows(text, SALIENT)
    low = text.lower()
    if len(low) != len(text):
        low = text  # a few letters change their length in lower case, and positions must fit
    clauses: dict[str, None] = {}
    for signal in _signals_for(low):
        if signal.strength < 2:
            continue
        for match in islice(signal.pattern.finditer(low), _MATCHES):
            if meant(signal, low, match) is Said.OWN:
                clauses[_clause(text, match.start(), match.end())] = None
    known = {window.text for window in windows}
    extra = [clause for clause in clauses if clause not in known and len(clause) + _CLAUSE_FROM < len(text)]
    return windows + [Window(len(windows) + i, clause) for i, clause in enumerate(extra[:_CLAUSES])]


def _clause(text: str, start: int, end: int) -> str:
    before = text[max(0, start - _CLAUSE_REACH) : start]
    after = text[end : end + _CLAUSE_REACH]
    head = _CLAUSE_ENDS.split(before)[-1]
    tail = _CLAUSE_ENDS.split(after)[0]
    return (head + text[start:end] + tail).strip()


def _signals_for(text: str) -> tuple[Signal, ...]:
    """Only the signals of scripts that occur."""
    if text.isascii():
        return SIGNALS_EN + SIGNALS_OTHER
    return SIGNALS if _LATIN.search(text) else SIGNALS_ZH + SIGNALS_OTHER


def read_window(text: str) -> Reading:
    low = text.lower()
    heard = tuple(found for signal in _signals_for(low) for found in read(signal, low))
    return Reading(heard, shields_in(low), bool(URGENT.search(low)))


def nearness(vectors: Vectors, bank: Bank) -> tuple[Vectors, NDArray[np.float32], NDArray[np.float32]]:
    """Cosines to every exemplar, and the mean of the nearest few among crisis and among contrast exemplars."""
    cosines: Vectors = vectors @ bank.vectors.T
    risky = bank.risky
    return cosines, _top(cosines[:, risky]), _top(cosines[:, ~risky])


def _top(cosines: Vectors) -> NDArray[np.float32]:
    part = np.partition(cosines, -_TOP, axis=1)[:, -_TOP:]
    return np.asarray(part.mean(axis=1), dtype=np.float32)


def pattern_features(reading: Reading, text: str) -> dict[str, float]:
    own = reading.own()
    strong = [heard for heard in own if heard.signal.strength == 2]
    topic = any(heard.signal.name.endswith("topic_suicide") for heard in own)
    soft = any(
        heard.signal.strength == 1 and not heard.signal.name.endswith("topic_suicide") for heard in own
    )
    other = any(heard.said is Said.OTHER for heard in reading.heard)
    negated = any(heard.said is Said.NEGATED for heard in reading.heard)
    levels = {heard.signal.level for heard in strong}
    values = {
        "own_soft": soft,
        "own_topic": topic,
        "other_said": other,
        "other_urgent": other and reading.urgent,
        "negated": negated,
        "strong_in_story": bool(strong) and bool(reading.shields & _STORY),
        "strong_in_past": bool(strong) and bool(reading.shields & _PAST),
        "strong_in_play": bool(strong) and bool(reading.shields & _PLAY),
        "only_negated": negated and not strong,
        "only_other": other and not strong and not reading.urgent,
        "short": len(text) <= 12,
    }
    values |= {f"own_{level.value}": level in levels for level in CRISIS_LEVELS}
    values |= {f"shield_{shield.kind}": shield.kind in reading.shields for shield in SHIELDS}
    return {name: float(value) for name, value in values.items()}
