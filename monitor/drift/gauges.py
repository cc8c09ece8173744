"""Comparisons as metrics. Pure; the names are in ARCHITECTURE, and their number is bounded by ``monitor.drift.plan``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from detectors.drift.verdict import Decision, DriftVerdict, FeatureDrift, Reason
from monitor.drift.growing import EMBEDDING, TEMPLATES, Found
from monitor.drift.plan import Against
from monitor.tally.styles import COHORTS

_DRIFT: Final = ("against", "track", "release", "feature")
_PLACE: Final = ("track", "release")
_CONSTANT: Final = 1e-4
"""Standard deviation of what never varied in either group: there is nothing to be standardised by."""


def gauges(found: Sequence[Found]) -> list[Metric]:
    families = _Families()
    for one in found:
        if one.name.against is Against.COHORTS:
            families.add_distance(one)
        else:
            families.add_drift(one)
    return families.all()


class _Families:
    def __init__(self) -> None:
        def gauge(name: str, text: str, labels: Sequence[str]) -> GaugeMetricFamily:
            return GaugeMetricFamily(f"jiezhu_style_{name}", text, labels=labels)

        self.drift = gauge("drift", "Difference of means from the reference, in standard deviations", _DRIFT)
        self.low = gauge("drift_low", "Lower end of its interval, which holds at all looks", _DRIFT)
        self.high = gauge("drift_high", "Upper end of its interval, which holds at all looks", _DRIFT)
        self.p = gauge("drift_pvalue", "By permutation, corrected over features; of one look", _DRIFT)
        self.alarm = gauge("drift_alarm", "1 since it surely differed, while the comparison lasts", _DRIFT)
        self.size = gauge("drift_sample_size", "Replies compared", ("against", *_PLACE, "group"))
        self.verdict = gauge(
            "drift_verdict",
            "1 for what is found: not_enough, steady or drifted",
            ("against", *_PLACE, "verdict"),
        )
        spread = (*_PLACE, "feature")
        self.distance = gauge(
            "distance", "Replies to the terse less those to the open, in standard deviations", spread
        )
        self.distance_low = gauge("distance_low", "Lower end of its interval", spread)
        self.distance_high = gauge("distance_high", "Upper end of its interval", spread)
        self.distance_size = gauge("distance_sample_size", "Replies compared", (*_PLACE, "cohort"))

    def add_drift(self, found: Found) -> None:
        where = [found.name.against.value, found.name.track, found.name.release]
        verdict = found.verdict
        for group, count in zip(("current", "reference"), verdict.replies, strict=True):
            self.size.add_metric([*where, group], count)
        for decision in Decision:
            self.verdict.add_metric([*where, decision.value], float(decision is found.decision))
        for one in _shown(verdict):
            labels = [*where, one.feature.value]
            self.drift.add_metric(labels, one.effect)
            self.low.add_metric(labels, one.low / one.deviation)
            self.high.add_metric(labels, one.high / one.deviation)
        if verdict.meaning is not None and verdict.meaning.reason is not Reason.TOO_FEW_REPLIES:
            self.drift.add_metric([*where, EMBEDDING], verdict.meaning.effect)
        if verdict.features:
            self.drift.add_metric([*where, TEMPLATES], _most_moved(verdict))
        shown = {sample.labels["feature"] for sample in self.drift.samples if _of(sample.labels, where)}
        for feature, p in found.p.items():
            if feature in shown:
                self.p.add_metric([*where, feature], p)
        for feature in sorted(shown | found.alarmed):
            self.alarm.add_metric([*where, feature], float(feature in found.alarmed))

    def add_distance(self, found: Found) -> None:
        where = [found.name.track, found.name.release]
        for cohort, count in zip(COHORTS, found.verdict.replies, strict=True):
            self.distance_size.add_metric([*where, cohort], count)
        for one in _shown(found.verdict):
            labels = [*where, one.feature.value]
            self.distance.add_metric(labels, one.effect)
            self.distance_low.add_metric(labels, one.low / one.deviation)
            self.distance_high.add_metric(labels, one.high / one.deviation)

    def all(self) -> list[Metric]:
        return [
            *(self.drift, self.low, self.high, self.p, self.alarm, self.size, self.verdict),
            *(self.distance, self.distance_low, self.distance_high, self.distance_size),
        ]


def _of(labels: dict[str, str], where: Sequence[str]) -> bool:
    return [labels[name] for name in ("against", *_PLACE)] == list(where)


def _shown(verdict: DriftVerdict) -> list[FeatureDrift]:
    """Those that can be judged by now, and vary at all."""
    return [
        one
        for one in verdict.features
        if one.reason is not Reason.TOO_FEW_REPLIES and one.deviation > _CONSTANT
    ]


def _most_moved(verdict: DriftVerdict) -> float:
    """Of the sentence or phrase that surely moved most, in standard deviations of a share; 0 if none did."""
    if not verdict.phrases:
        return 0.0
    first, second = verdict.phrases[0].first, verdict.phrases[0].second
    middle = (first + second) / 2
    return (first - second) / math.sqrt(max(middle * (1 - middle), 1e-6))
