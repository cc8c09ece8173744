"""Made-up releases: replies whose features are drawn from known laws, given the user's state, alike within conversations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import norm

from detectors.drift.feature import FEATURES, LEVELS, Feature
from detectors.drift.means import Sums, differences, matters
from detectors.drift.policy import Policy
from detectors.drift.rare import presence
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style

STATES = (State.CALM, State.UNEASY, State.DISTRESSED, State.PASSIVE, State.ACTIVE, State.IMMINENT)
EDGES = np.array([0.2, 0.5, 0.7, 0.85, 0.95])  # of severity 0-1, where a state ends
WINDOW = 8  # earlier replies that are at hand
LAYOUT_PLACE = FEATURES.index(Feature.LAYOUT)


@dataclass(frozen=True)
class Law:
    """A feature is there with chance ``often`` (plus ``by_severity`` for each unit above the mean of a quiet week).

    Where it is there its share is ``1 - (1 - U) ** (1 / b)`` to the power ``1 / a`` (Kumaraswamy 1980), or of a Pareto tail.
    """

    often: float
    by_severity: float = 0.0
    a: float = 0.0  # 0: the share is 1
    b: float = 0.0
    tail: float = 0.0  # exponent of a Pareto tail

    def values(self, chance, severity):
        often = np.clip(self.often + self.by_severity * (severity - 0.3), 0.0, 1.0)
        there = chance < often
        inside = np.where(there, chance / np.maximum(often, 1e-12), 0.5)
        if self.tail:
            share = np.minimum(1.0, 0.03 * np.maximum(1 - inside, 1e-9) ** (-1 / self.tail))
        elif self.a:
            share = (1 - (1 - inside) ** (1 / self.b)) ** (1 / self.a)
        else:
            share = 1.0
        return np.where(there, share, 0.0)


USUAL = {
    Feature.LENGTH: Law(1.0, 0.0, 4.0, 3.0),
    Feature.QUESTIONS: Law(0.40, 0.2, 2.0, 3.0),
    Feature.ADVICE: Law(0.60, -0.4, 3.0, 3.0),
    Feature.WARMTH: Law(0.35, 0.3),
    Feature.VALIDATION: Law(0.60, 0.4),
    Feature.RESTATEMENT: Law(0.25, 0.1),
    Feature.ECHO: Law(0.50, 0.0, 1.0, 6.0),
    Feature.FORMALITY: Law(0.15, 0.0, 3.0, 1.0),
    Feature.EMOJI: Law(0.10, -0.1, tail=1.5),
    Feature.LAYOUT: Law(0.01, 0.0, 2.0, 2.0),
    Feature.EXCLAMATION: Law(0.15, -0.1, 1.0, 3.0),
    Feature.OTHER_SCRIPT: Law(0.05, 0.0, tail=1.2),
    Feature.TEMPLATE: Law(0.05, 0.0),
    Feature.EMOTION_NAMED: Law(0.45, 0.5),
    Feature.REFERRAL: Law(0.10, 0.8),
    Feature.BOUNDARY: Law(0.02, 0.2),
    Feature.PRESSURE: Law(0.005, 0.0),
}


@dataclass(frozen=True)
class Release:
    """``likeness``: correlation of a feature's latent within a conversation. ``severity``: mean of the users'.

    ``canned``: share of replies in which it says one and the same sentence.
    """

    laws: dict[Feature, Law] = field(default_factory=lambda: dict(USUAL))
    likeness: float = 0.3
    replies: float = 5.0  # of a conversation, on average
    severity: float = 0.3
    canned: float = 0.0

    def changed(self, feature: Feature, times: float) -> Release:
        """The same with one feature's chance of being there multiplied."""
        law = self.laws[feature]
        return replace(
            self,
            laws={
                **self.laws,
                feature: replace(law, often=law.often * times, by_severity=law.by_severity * times),
            },
        )


@dataclass(frozen=True)
class Drawn:
    """``levels`` (N, F), ``states`` (N) places in ``STATES``, ``conversations`` (N) ascending numbers."""

    levels: np.ndarray
    states: np.ndarray
    conversations: np.ndarray
    traces: np.ndarray | None = None  # (N, 48) int8
    canned: np.ndarray | None = None  # (N) bool


def draw(release: Release, n: int, rng: np.random.Generator, *, traced: bool = False) -> Drawn:
    sizes = rng.geometric(1 / release.replies, size=n)
    conversations = np.repeat(np.arange(n), sizes)[:n]
    users = rng.beta(1.2, 1.2 / release.severity - 1.2, size=n)[conversations]
    severity = np.clip(users + 0.1 * rng.standard_normal(n), 0.0, 0.999)
    width = len(FEATURES)
    shared = rng.standard_normal((n, width))[conversations]
    latent = np.sqrt(release.likeness) * shared + np.sqrt(1 - release.likeness) * rng.standard_normal(
        (n, width)
    )
    chance = norm.cdf(latent)
    shares = np.column_stack(
        [release.laws[one].values(chance[:, place], severity) for place, one in enumerate(FEATURES)]
    )
    levels = np.where(shares <= 0, 0, np.clip(np.rint(shares * (LEVELS - 1)), 1, LEVELS - 1)).astype(np.int64)
    traces = None
    if traced:
        mood = np.sqrt(release.likeness) * rng.standard_normal((n, 48))[conversations]
        own = np.sqrt(1 - release.likeness) * rng.standard_normal((n, 48))
        tilt = 0.5 * (severity - 0.3)[:, None]
        traces = np.clip(np.rint(127 * np.tanh(0.5 * (mood + own) + tilt)), -127, 127).astype(np.int8)
    return Drawn(
        levels,
        np.searchsorted(EDGES, severity, side="right"),
        conversations,
        traces,
        rng.random(n) < release.canned,
    )


# --- many looks at once --------------------------------------------------------------------------------------------


_SIDE = len(STATES)
LINKED = np.array([(one, other) for one in range(_SIDE) for other in range(one, _SIDE)])
_LINK = np.zeros((_SIDE, _SIDE), dtype=np.intp)
for _place, (_one, _other) in enumerate(LINKED):
    _LINK[_one, _other] = _LINK[_other, _one] = _place


def sums_at(values: np.ndarray, drawn: Drawn, ends: np.ndarray) -> Sums:
    """The sums after the first ``ends`` replies, for each look. ``values`` (N, F) are 0-1."""
    n, width = values.shape
    look = np.searchsorted(ends, np.arange(n), side="right")
    inside = look < len(ends)
    cells = (look * _SIDE + drawn.states)[inside]
    size = len(ends) * _SIDE
    shape = (len(ends), _SIDE)
    replies = np.bincount(cells, minlength=size).reshape(shape).cumsum(axis=0).astype(float)
    powers = np.stack(
        [
            _added(values[inside] ** power, cells, size).reshape(*shape, width).cumsum(axis=0)
            for power in (1, 2, 3)
        ],
        axis=1,
    )
    links = len(LINKED)
    pairs = np.zeros(len(ends) * links)
    products = np.zeros((3, len(ends) * links, width))
    before = np.arange(n) - np.searchsorted(drawn.conversations, drawn.conversations)
    for lag in range(1, WINDOW + 1):
        at = np.flatnonzero((before >= lag) & inside)
        if not len(at):
            break
        here, there = drawn.states[at], drawn.states[at - lag]
        cell = look[at] * links + _LINK[here, there]
        mine, theirs = values[at], values[at - lag]
        swap = (here < there)[:, None]
        pairs += np.bincount(cell, minlength=len(pairs))
        products[0] += _added(np.where(swap, mine, theirs), cell, len(pairs))
        products[1] += _added(np.where(swap, theirs, mine), cell, len(pairs))
        products[2] += _added(mine * theirs, cell, len(pairs))
    every = np.cumsum(before)[np.minimum(ends, n) - 1]
    return Sums(
        replies,
        powers,
        LINKED,
        pairs.reshape(len(ends), links).cumsum(axis=0),
        products.reshape(3, len(ends), links, width).cumsum(axis=1).transpose(1, 0, 2, 3),
        every / np.minimum(ends, n),
    )


def _added(values, cells, size):
    out = np.zeros((size, values.shape[1]))
    for column in range(values.shape[1]):
        out[:, column] = np.bincount(cells, weights=values[:, column], minlength=size)
    return out


def absence_at(drawn: Drawn, ends: np.ndarray) -> np.ndarray:
    """Counts (looks, strata, features, 2): replies without a feature, and with it."""
    look = np.searchsorted(ends, np.arange(len(drawn.levels)), side="right")
    inside = look < len(ends)
    cells, size = (look * _SIDE + drawn.states)[inside], len(ends) * _SIDE
    sides = [
        _added(side[inside].astype(float), cells, size) for side in (drawn.levels == 0, drawn.levels > 0)
    ]
    return np.stack(sides, axis=-1).reshape(len(ends), _SIDE, -1, 2).cumsum(axis=0)


def moved_at(
    one: Drawn, other: Drawn, ends: np.ndarray, other_ends: np.ndarray, policy: Policy
) -> np.ndarray:
    """Which features alarm at each look (looks, F), by the functions that ``compare`` calls."""
    span = LEVELS - 1
    found = differences(
        sums_at(one.levels / span, one, ends),
        sums_at(other.levels / span, other, other_ends),
        policy.of_means(),
        policy,
    )
    there = presence(absence_at(one, ends), absence_at(other, other_ends), found.spread)
    sure = found.crossed | (there >= -np.log(policy.alpha * policy.for_presence / len(FEATURES)))
    enough = np.minimum(ends, other_ends) >= policy.replies
    return sure & matters(found, policy) & enough[:, None]


def meaning_at(
    one: Drawn, other: Drawn, ends: np.ndarray, other_ends: np.ndarray, policy: Policy
) -> np.ndarray:
    """Whether meaning alarms at each look (looks)."""
    found = differences(
        sums_at((one.traces + 127.0) / 254, one, ends),
        sums_at((other.traces + 127.0) / 254, other, other_ends),
        policy.alpha * policy.for_meaning / 48,
        policy,
    )
    return (found.crossed & (np.abs(found.effect) >= policy.smallest)).any(axis=1)


# --- sketches ------------------------------------------------------------------------------------------------------

CANNED = 0xC0FFEE
STOCK = 3_000  # sentences that an app says again and again, by Zipf's law
KINDS = 40  # of phrases


def replies_of(drawn: Drawn, rng: np.random.Generator) -> list[Reply]:
    """As a worker would make them. Of a reply's sentences one is new, one of the stock, one often that of the reply before.

    In crises a sentence is said in three of four replies, and some phrases are as well.
    """
    n = len(drawn.levels)
    fresh, marks = rng.integers(1 << 30, 1 << 40, size=n), rng.integers(0, 1 << 63, size=n)
    hashes = rng.integers(0, 1 << 63, size=n)
    stock = np.minimum(rng.zipf(1.3, size=n), STOCK)
    again, crisis = rng.random(n) < 0.4, (drawn.states >= 3) & (rng.random(n) < 0.75)
    kinds = rng.random((n, KINDS)) < 0.3 / np.arange(1, KINDS + 1)
    out: list[Reply] = []
    for row in range(n):
        sentences = {int(fresh[row]), int(stock[row])}
        follows = row > 0 and drawn.conversations[row] == drawn.conversations[row - 1]
        if follows and again[row]:
            sentences.add(out[-1].style.sentences[0])
        if crisis[row]:
            sentences.add(STOCK + 1)
        if drawn.canned is not None and drawn.canned[row]:
            sentences.add(CANNED)
        phrases = [f"kind_{place}" for place in np.flatnonzero(kinds[row])]
        if drawn.states[row] >= 3:
            phrases.append("asks_directly")
        out.append(
            Reply(
                Stratum(STATES[drawn.states[row]], "zh"),
                Style(tuple(int(one) for one in drawn.levels[row]), tuple(sorted(sentences))),
                int(hashes[drawn.conversations[row]]),
                int(marks[row]),
                tuple(phrases),
                b"" if drawn.traces is None else drawn.traces[row].tobytes(),
            )
        )
    return out


def feed(sketch: StyleSketch, replies: list[Reply], start: int = 0, end: int | None = None) -> StyleSketch:
    """Add ``replies[start:end]``, each with the last ones of its conversation before it."""
    for row in range(start, len(replies) if end is None else end):
        first = row
        while first > 0 and replies[first - 1].conversation == replies[row].conversation:
            first -= 1
        sketch.add(replies[row], replies[max(first, row - WINDOW) : row], row - first)
    return sketch


def sketch_of(drawn: Drawn, rng: np.random.Generator) -> StyleSketch:
    return feed(StyleSketch(), replies_of(drawn, rng))
