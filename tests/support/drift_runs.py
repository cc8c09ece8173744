"""Weeks of made-up releases side by side, and what they alarm of: short in the tests, long in the benchmark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from detectors.drift.compare import compare
from detectors.drift.feature import FEATURES, Feature
from detectors.drift.policy import Policy
from detectors.drift.sketch import StyleSketch
from tests.support.styles import CANNED, Law, Release, draw, feed, meaning_at, moved_at, replies_of

RARE = Release(
    laws={
        feature: Law(often, tail=tail)
        for feature, (often, tail) in zip(
            FEATURES,
            [
                *((often, 0) for often in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.9, 0.99)),
                *(
                    (0.2, 0.6),
                    (0.5, 1.1),
                    (1.0, 0.8),
                    (1.0, 1.5),
                    (0.05, 0.9),
                    (0.02, 1.2),
                    (0.01, 0.5),
                    (0.005, 1.0),
                ),
            ],
            strict=True,
        )
    },
    likeness=0.0,
)
"""Rare, zero-inflated and heavy-tailed features alone."""

ALIKE = {
    "independent replies": (Release(likeness=0.0), Release(likeness=0.0)),
    "alike within conversations": (Release(), Release()),
    "long conversations of one mood": (Release(likeness=0.5, replies=10), Release(likeness=0.5, replies=10)),
    "rare, zero-inflated, heavy-tailed": (RARE, RARE),
    "other users: more severe nights": (Release(severity=0.5), Release(severity=0.25)),
    "other users: longer conversations": (
        Release(likeness=0.4, replies=10),
        Release(likeness=0.4, replies=3),
    ),
}
"""Pairs of releases whose style is one."""

SPARSELY = 10  # 48 numbers a look are many

PLANTED = {
    "advice +30 %": (Feature.ADVICE, 1.3),
    "validation -30 %": (Feature.VALIDATION, 0.7),
    "questions doubled": (Feature.QUESTIONS, 2.0),
}


@dataclass
class Runs:
    """``ever``: runs in which anything alarmed; ``by``: runs by what alarmed; ``at``: replies after which it did."""

    runs: int = 0
    ever: int = 0
    by: Counter[str] = field(default_factory=Counter)
    at: list[int] = field(default_factory=list)

    def count(self, names, at=None):
        self.runs += 1
        self.ever += bool(names)
        self.by.update(names)
        if at is not None:
            self.at.append(at)

    def share(self, *names):
        return sum(self.by[name] for name in names) / self.runs


def alike(one: Release, other: Release, weeks: int, sizes, looks: int, *, seed=0, traced=False) -> Runs:
    """``looks`` evenly through each week; ``looks`` of 10,080 are one a minute. Meaning is looked at in one of ten."""
    runs, policy = Runs(), Policy()
    for week in range(weeks):
        rng = np.random.default_rng([seed, week])
        first, second = (
            draw(each, n, rng, traced=traced) for each, n in zip((one, other), sizes, strict=True)
        )
        names: set[str] = set()
        for part in np.array_split(np.arange(1, looks + 1), max(1, looks // 1_500)):
            ends, other_ends = (np.maximum(1, part * n // looks) for n in sizes)
            moved = moved_at(first, second, ends, other_ends, policy).any(axis=0)
            names |= {FEATURES[at].value for at in np.flatnonzero(moved)}
            if traced and meaning_at(first, second, ends[::SPARSELY], other_ends[::SPARSELY], policy).any():
                names.add("meaning")
        runs.count(names)
    return runs


def planted(change, likeness: float, runs: int, against: int, *, within=500, step=20, seed=1) -> Runs:
    """A change of one feature, looked at every ``step`` replies until ``within``."""
    feature, factor = change
    found, policy = Runs(), Policy()
    usual = Release(likeness=likeness)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        first, second = draw(usual.changed(feature, factor), within, rng), draw(usual, against, rng)
        ends = np.arange(step, within + 1, step)
        moved = moved_at(first, second, ends, ends * against // within, policy)
        mine = moved[:, FEATURES.index(feature)]
        names = {FEATURES[at].value for at in np.flatnonzero(moved.any(axis=0))}
        found.count(names, int(ends[mine.argmax()]) if mine.any() else None)
    return found


def canned(share: float, runs: int, against: int, *, within=500, step=50, likeness=0.3, seed=2) -> Runs:
    """One sentence in a share of replies, through sketches and the whole verdict."""
    found = Runs()
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        usual = Release(likeness=likeness)
        stable = feed(StyleSketch(), replies_of(draw(usual, against, rng), rng))
        replies = replies_of(draw(Release(likeness=likeness, canned=share), within, rng), rng)
        names, at = _watched(replies, lambda _, stable=stable: stable, step)
        found.count(names, at.get(f"{CANNED:010x}"))
    return found


def sketched(one: Release, other: Release, weeks: int, sizes, looks: int, *, seed=3) -> Runs:
    """The whole verdict over growing sketches: features, meaning, sentences, phrases."""
    runs = Runs()
    for week in range(weeks):
        rng = np.random.default_rng([seed, week])
        first, second = (
            replies_of(draw(each, n, rng, traced=True), rng)
            for each, n in zip((one, other), sizes, strict=True)
        )
        grown, fed = StyleSketch(), 0

        def stable(end, second=second, grown=grown, share=sizes[1] / sizes[0]):
            nonlocal fed
            until = int(end * share)
            feed(grown, second, fed, until)
            fed = until
            return grown

        names, _ = _watched(first, stable, max(1, sizes[0] // looks))
        runs.count(names)
    return runs


def _watched(replies, stable, step):
    sketch, names, at = StyleSketch(), set(), {}
    for end in range(step, len(replies) + 1, step):
        feed(sketch, replies, end - step, end)
        verdict = compare(sketch, stable(end))
        found = {one.feature.value for one in verdict.drifted} | {one.name for one in verdict.phrases}
        found |= {"meaning"} if "meaning_moved" in verdict.reasons else set()
        for name in found:
            at.setdefault(name, end)
        names |= found
    return names, at
