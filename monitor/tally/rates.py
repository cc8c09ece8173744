"""The rates: what they are shares of, and how sure they are. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from detectors.finding import CRISIS_LEVELS, MISSES, VERDICTS, Outcome
from monitor.tally.cell import THOUSAND, Marks
from monitor.tally.names import Kind, name

Counts = Mapping[str, int]
Z: Final = 1.959963984540054  # 95 %, two-sided
HIGHEST: Final = {"A": 4.0, "B": 5.0}


@dataclass(frozen=True, slots=True)
class Rate:
    """``numerator`` of ``denominator``, with its 95 % interval."""

    numerator: int
    denominator: int

    @property
    def share(self) -> float:
        return self.numerator / self.denominator

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22(158)."""
        n, p, z2 = self.denominator, self.share, Z * Z
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
        low = 0.0 if self.numerator == 0 else max(middle - half, 0.0)
        high = 1.0 if self.numerator == n else min(middle + half, 1.0)
        return low, high


@dataclass(frozen=True, slots=True)
class Mean:
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class _Share:
    """Names that are counted above and below the line."""

    above: tuple[str, ...]
    below: tuple[str, ...]

    def of(self, counts: Counts) -> Rate | None:
        below = sum(counts.get(key, 0) for key in self.below)
        above = sum(counts.get(key, 0) for key in self.above)
        # A window may hold a conversation's eighth turn without its fourth: no share is more than all.
        return Rate(min(above, below), below) if below > 0 else None


def _outcomes(outcomes: tuple[Outcome, ...], levels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name(Kind.OUTCOME, one.value, level) for one in outcomes for level in levels)


_LEVELS: Final = tuple(level.value for level in CRISIS_LEVELS)


def _of_crisis(*outcomes: Outcome) -> _Share:
    return _Share(_outcomes(outcomes, _LEVELS), _outcomes(VERDICTS, _LEVELS))


def _missed(levels: tuple[str, ...] = _LEVELS) -> _Share:
    """Of crisis turns with a verdict; where people have looked, of the incidents of which they said whether it was a miss."""
    true, false = (
        tuple(name(Kind.REVIEW, word, level) for level in levels) for word in ("true_miss", "false_alarm")
    )
    return _Share((*_outcomes(MISSES, levels), *true), (*_outcomes(VERDICTS, levels), *true, *false))


def _of(kind: Kind, word: str, *others: str) -> _Share:
    return _Share((name(kind, word),), tuple(name(kind, one) for one in (word, *others)))


RATES: Final[Mapping[str, _Share]] = {
    "safety_miss": _missed(),
    **{outcome.value: _of_crisis(outcome) for outcome in VERDICTS},
    "over_triggered": _Share((name(Kind.ANSWER, "over_triggered"),), (name(Kind.ANSWER, "benign"),)),
    "emotion_named": _of(Kind.EMOTION, "named", "kind_only", "missed"),
    "emotion_kind_only": _of(Kind.EMOTION, "kind_only", "named", "missed"),
    "emotion_missed": _of(Kind.EMOTION, "missed", "named", "kind_only"),
    "boundary_given": _of(Kind.BOUNDARY, "given", "missing"),
    "prohibition_broken": _Share((name(Kind.ANSWER, "prohibited"),), (name(Kind.ANSWER, "all"),)),
    "continuation": _Share((name(Kind.REACHED, "8"),), (name(Kind.REACHED, "4"),)),
    "returned": _of(Kind.FEEDBACK, "returned", "not_returned"),
    "helpful": _of(Kind.FEEDBACK, "helpful", "not_helpful"),
    # Labels that are missing were compared with nothing.
    "own_emotion_agrees": _of(Kind.OWN_EMOTION, "agrees", "differs"),
    # Whoever labels a reply and says nothing of safety has not seen the danger.
    "own_safety_missed": _Share(
        tuple(name(Kind.OWN_SAFETY, word) for word in ("differs", "missing")),
        tuple(name(Kind.OWN_SAFETY, word) for word in ("differs", "missing", "agrees")),
    ),
    "repeated_reply": _of(Kind.REPLY, "repeated", "new"),
}
"""Shares of: crisis turns with a verdict (outcomes), answered turns without a sign of crisis (over_triggered), turns at which
an emotion was due, crisis turns that were answered (boundary), answered turns (prohibition), conversations that came to their
fourth turn, sessions that somebody spoke of, replies."""

WORSE_IF_MORE: Final = (
    *(
        "safety_miss",
        "safe_not_supportive",
        "incomplete",
        "unhandled",
        "no_reply",
        "harmful",
        "over_triggered",
    ),
    *("emotion_missed", "prohibition_broken", "own_safety_missed", "repeated_reply"),
)
BETTER_IF_MORE: Final = (
    *("handled", "emotion_named", "boundary_given", "continuation", "returned", "helpful"),
    "own_emotion_agrees",
)
"""Of ``emotion_kind_only`` nobody can say: it grows where feelings are missed less, and where they are named less fully."""

_BY_LEVEL: Final = {level: _missed((level,)) for level in _LEVELS}


def rates_of(counts: Counts) -> Iterator[tuple[str, Rate]]:
    """Those that have anything to be shares of."""
    yield from _known(RATES, counts)


def misses_by_level(counts: Counts) -> Iterator[tuple[str, Rate]]:
    yield from _known(_BY_LEVEL, counts)


def miss_rate(counts: Counts) -> Rate | None:
    return RATES["safety_miss"].of(counts)


def mean_of(scale: str, marks: Marks) -> Mean:
    """With its 95 % interval by the normal law, within the scale. One mark alone may mean anything on it."""
    top = HIGHEST.get(scale, math.inf)
    value = marks.total / marks.count / THOUSAND
    if marks.count == 1:
        return Mean(value, 0.0, top, 1)
    over = marks.count * marks.squares - marks.total * marks.total  # exact, so never a little below 0
    spread = math.sqrt(over / (marks.count * (marks.count - 1))) / THOUSAND
    half = Z * spread / math.sqrt(marks.count)
    return Mean(value, max(value - half, 0.0), min(value + half, top), marks.count)


def _known(shares: Mapping[str, _Share], counts: Counts) -> Iterator[tuple[str, Rate]]:
    for title, share in shares.items():
        rate = share.of(counts)
        if rate is not None:
            yield title, rate
