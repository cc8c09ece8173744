"""Figures of releases as an elected worker publishes them, made up: the demonstration is too small to have any.

``tests/support/published.py`` says what such a worker really shows; a test holds the two to each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

PRODUCTION, CANARY, STAGING = (
    ("production", "companion-1.4"),
    ("canary", "companion-1.5"),
    ("staging", "companion-1.6"),
)
WHO = ("track", "release")
# A share in production, one in the canary, and of how many in production (a twentieth of it in the canary).
RATES = {
    "safety_miss": (0.004, 0.045, 4100),
    "handled": (0.91, 0.83, 4100),
    "safe_not_supportive": (0.05, 0.06, 4100),
    "incomplete": (0.036, 0.065, 4100),
    "unhandled": (0.002, 0.03, 4100),
    "no_reply": (0.001, 0.01, 4100),
    "harmful": (0.001, 0.005, 4100),
    "over_triggered": (0.03, 0.028, 52000),
    "emotion_named": (0.71, 0.58, 21000),
    "emotion_kind_only": (0.2, 0.27, 21000),
    "emotion_missed": (0.09, 0.15, 21000),
    "boundary_given": (0.96, 0.95, 3300),
    "prohibition_broken": (0.002, 0.003, 52000),
    "continuation": (0.46, 0.44, 9000),
    "returned": (0.38, 0.37, 900),
    "helpful": (0.74, 0.7, 500),
    "own_emotion_agrees": (0.81, 0.8, 21000),
    "own_safety_missed": (0.06, 0.05, 4100),
    "repeated_reply": (0.02, 0.07, 52000),
}
LEVELS = ("passive_ideation", "active_ideation", "plan_intent", "preparation")
# Effect, half of its interval, p-value.
FEATURES = {
    "length": (0.06, 0.08, 0.62),
    "questions": (-0.11, 0.09, 0.09),
    "advice": (0.52, 0.09, 0.0002),
    "warmth": (-0.04, 0.09, 1.0),
    "validation": (-0.43, 0.08, 0.0002),
    "restatement": (-0.12, 0.09, 0.08),
    "echo": (0.03, 0.08, 1.0),
    "formality": (0.02, 0.09, 1.0),
    "emoji": (0.0, 0.08, 1.0),
    "template": (0.31, 0.09, 0.0006),
    "embedding": (0.24, 0.1, 0.002),
    "templates": (0.29, 0.1, 0.001),
}
MARKS = {
    "A": ("emotion", "empathy", "reappraisal", "behaviour", "crisis"),
    "B": ("safety", "warmth"),
}


def wilson(share: float, n: int) -> tuple[float, float]:
    middle, half = share + 1.9208 / n, 1.96 * math.sqrt(share * (1 - share) / n + 0.9604 / n**2)
    return max(0.0, (middle - half) / (1 + 3.8416 / n)), min(1.0, (middle + half) / (1 + 3.8416 / n))


class Releases:
    """The families on ``registry``; ``show`` sets them, a little further at each beat."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, *labels: str) -> Gauge:
            return Gauge(f"jiezhu_{name}", "Made up", labels, registry=registry)

        of_rate = ("rate", *WHO, "lang", "level", "basis")
        self.rate = {
            end: gauge(f"rate{end}", *of_rate) for end in ("", "_low", "_high", "_numerator", "_denominator")
        }
        self.score = {
            end: gauge(f"score_mean{end}", "scale", "dimension", *WHO, "basis")
            for end in ("", "_low", "_high", "_sample_size")
        }
        self.latency = gauge("reply_latency_quantile_seconds", "quantile", *WHO)
        self.window = gauge("rate_window_seconds")
        self.drift = {
            end: gauge(f"style_drift{end}", "against", *WHO, "feature")
            for end in ("", "_low", "_high", "_pvalue", "_alarm")
        }
        self.drift_n = gauge("style_drift_sample_size", "against", *WHO, "group")
        self.verdict = gauge("style_drift_verdict", "against", *WHO, "verdict")
        self.distance = {end: gauge(f"style_distance{end}", *WHO, "feature") for end in ("", "_low", "_high")}
        self.distance_n = gauge("style_distance_sample_size", *WHO, "cohort")
        self.publisher = gauge("publisher")
        self.age = gauge("published_age_seconds")
        self.waiting = gauge("tally_waiting")

    def show(self, beat: int) -> None:
        self.publisher.set(1)
        self.age.set(beat % 60)
        self.waiting.set(beat % 9)
        self.window.set(86400)
        for who in (PRODUCTION, CANARY):
            self._rates(who, beat)
            self._marks(who)
            for quantile, seconds in (("0.5", 1.4), ("0.95", 4.1), ("0.99", 7.7)):
                slower = 1.15 if who is CANARY else 1.0
                self.latency.labels(quantile, *who).set(seconds * slower)
        self._style(beat)

    def _rates(self, who: tuple[str, str], beat: int) -> None:
        for rate, (stable, tried, n) in RATES.items():
            share, of = (tried, n // 20 + beat) if who is CANARY else (stable, n + 4 * beat)
            self._rate(rate, who, share, of, "all", "all", "live")
            self._rate(rate, who, share, max(of // 40, 1), "all", "all", "probe")
            if rate == "safety_miss":
                self._rate(rate, who, share, max(of // 30, 1), "all", "all", "review")
                for lang, part in (("zh", 0.7), ("en", 0.3)):
                    self._rate(rate, who, share, int(of * part), lang, "all", "live")
                for level in LEVELS:
                    self._rate(rate, who, share, of // 4, "all", level, "live")

    def _rate(self, rate: str, who: tuple[str, str], share: float, n: int, *rest: str) -> None:
        k = round(share * n)
        low, high = wilson(k / n, n)
        for end, value in (
            ("", k / n),
            ("_low", low),
            ("_high", high),
            ("_numerator", k),
            ("_denominator", n),
        ):
            self.rate[end].labels(rate, *who, *rest).set(value)

    def _marks(self, who: tuple[str, str]) -> None:
        for scale, dimensions in MARKS.items():
            for place, dimension in enumerate(dimensions):
                mean = (2.3 if scale == "A" else 3.9) + 0.2 * place - (0.25 if who is CANARY else 0)
                half, n = (0.12, 2600) if who is CANARY else (0.03, 52000)
                for end, value in (
                    ("", mean),
                    ("_low", mean - half),
                    ("_high", mean + half),
                    ("_sample_size", n),
                ):
                    self.score[end].labels(scale, dimension, *who, "live").set(value)

    def _style(self, beat: int) -> None:
        words = ("not_enough", "steady", "drifted")
        for against, who, said, current, reference in (
            ("stable", CANARY, "drifted", 2600 + beat, 52000 + 9 * beat),
            ("stable", STAGING, "not_enough", 41, 52000 + 9 * beat),
            ("baseline", PRODUCTION, "steady", 52000, 50000),
            ("past", PRODUCTION, "steady", 52000, 360000),
        ):
            for word in words:
                self.verdict.labels(against, *who, word).set(word == said)
            self.drift_n.labels(against, *who, "current").set(current)
            self.drift_n.labels(against, *who, "reference").set(reference)
            if said == "not_enough":
                continue
            for feature, (effect, half, p) in FEATURES.items():
                moved = effect if said == "drifted" else effect / 20
                swing = 0.02 * math.sin(beat / 9 + len(feature))
                self.drift[""].labels(against, *who, feature).set(moved + swing)
                self.drift["_low"].labels(against, *who, feature).set(moved + swing - half)
                self.drift["_high"].labels(against, *who, feature).set(moved + swing + half)
                self.drift["_pvalue"].labels(against, *who, feature).set(p if said == "drifted" else 1)
                self.drift["_alarm"].labels(against, *who, feature).set(said == "drifted" and p < 0.01)
        for feature, difference in (("length", 0.34), ("questions", 0.08), ("warmth", 0.21)):
            for end, off in (("", 0.0), ("_low", -0.07), ("_high", 0.07)):
                self.distance[end].labels(*PRODUCTION, feature).set(difference + off)
        for cohort, n in (("terse", 6100), ("open", 7400)):
            self.distance_n.labels(*PRODUCTION, cohort).set(n)


class Counters:
    """What workers count of releases, for those of the recorded demonstration, which did not yet."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, *labels: str) -> Counter:
            return Counter(f"jiezhu_{name}_total", "Made up", labels, registry=registry)

        self.failures = counter("tally_failures")
        self.style_seconds = counter("style_seconds")
        self.continuation = counter("continuation", "reached", *WHO)
        self.feedback = counter("feedback", "kind", *WHO)
        self.own_labels = counter("own_labels", "label", "result", *WHO)
        self.boundaries = counter("boundaries", "kind", "result", *WHO)

    def show(self, beat: int) -> None:
        self.style_seconds.inc(0.002)
        count(self, PRODUCTION, beat)
        count(self, CANARY, beat)


class Counted(Protocol):
    """Counters of a worker, real or made up."""

    continuation: Counter
    feedback: Counter
    own_labels: Counter
    boundaries: Counter


def count(counted: Counted, who: tuple[str, str], beat: int) -> None:
    counted.continuation.labels("4", *who).inc(2)
    counted.continuation.labels("8", *who).inc(beat % 2)
    for kind in ("helpful", "not_helpful", "returned"):
        counted.feedback.labels(kind, *who).inc(beat % 3 == 0)
    for label in ("emotion", "safety"):
        for result, often in (("agrees", 1), ("differs", 4), ("missing", 8)):
            counted.own_labels.labels(label, result, *who).inc(beat % often == 0)
    for kind in ("not_a_therapist", "not_a_doctor"):
        counted.boundaries.labels(kind, "given", *who).inc()
        counted.boundaries.labels(kind, "missing", *who).inc(beat % 10 == 0)


def text() -> Callable[[], str]:
    """Return what gives the figures as an exposition, further at each call."""
    registry = CollectorRegistry()
    releases, counters, beats = Releases(registry), Counters(registry), iter(range(1_000_000))

    def shown() -> str:
        beat = next(beats)
        releases.show(beat)
        counters.show(beat)
        return generate_latest(registry).decode()

    return shown
