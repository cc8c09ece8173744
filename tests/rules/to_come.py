"""Metrics that rules ask for and that ``monitor/metrics.py`` does not have yet."""

from __future__ import annotations

from collections.abc import Mapping

_RATE = ("rate", "track", "release", "lang", "level", "basis")
_SCORE = ("scale", "dimension", "track", "release", "basis")
_DRIFT = ("against", "track", "release", "feature")

# Samples as they are scraped, with their own labels. To be deleted, and this file with it, once they are all there.
NOT_YET_IN_METRICS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("jiezhu_rate", *(f"jiezhu_rate_{part}" for part in ("low", "high", "numerator", "denominator"))),
        _RATE,
    ),
    **dict.fromkeys(
        ("jiezhu_score_mean", *(f"jiezhu_score_mean_{part}" for part in ("low", "high", "sample_size"))),
        _SCORE,
    ),
    "jiezhu_style_drift": _DRIFT,
    "jiezhu_style_drift_alarm": _DRIFT,
    "jiezhu_style_drift_verdict": ("against", "track", "release", "verdict"),
    "jiezhu_publisher": (),
    "jiezhu_published_age_seconds": (),
    "jiezhu_tally_waiting": (),
    "jiezhu_tally_failures_total": (),
    "jiezhu_style_seconds_total": (),
}
