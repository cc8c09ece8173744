"""A comparison as one JSON object, for scripts. ``v`` changes when a field goes or means something else; new ones may come."""

from __future__ import annotations

from typing import Any, Final

from detectors.drift.verdict import DriftVerdict, FeatureDrift, MeaningDrift
from monitor.baselines import Baseline
from monitor.releases import words
from monitor.releases.comparison import Comparison
from monitor.releases.difference import Difference, Figure
from monitor.releases.row import Family, Row
from monitor.releases.side import Side

VERSION: Final = 1


def record(found: Comparison) -> dict[str, Any]:
    return {
        "v": VERSION,
        "headline": words.headline(found),
        "reference": _side(found.reference),
        "current": _side(found.current),
        "shared_hours": found.shared_hours,
        "models_differ": None if found.differing is None else list(found.differing),
        "rates": [_row(row) for row in found.of(Family.RATE)],
        "marks": [_row(row) for row in found.of(Family.MARK)],
        "latency": [_row(row) for row in found.of(Family.LATENCY)],
        "style": None if found.style is None else {"basis": found.basis, **_style(found.style)},
        "notes": list(words.notes(found)),
        "limits": list(words.LIMITS),
    }


def record_of_baseline(baseline: Baseline, replies: int | None) -> dict[str, Any]:
    return {
        "name": baseline.name,
        "track": baseline.track,
        "release": baseline.release,
        "pinned_at": baseline.pinned_at.isoformat(),
        "since": baseline.since.isoformat(),
        "until": baseline.until.isoformat(),
        "replies": replies,
        "basis": baseline.basis,
        "models": dict(baseline.models),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "title": side.title,
        "track": side.track,
        "release": side.release,
        "since": side.since.isoformat(),
        "until": side.until.isoformat(),
        "hours": len(side.heard) or None,
        "hours_of_other_models": side.left_out,
        "replies": side.replies,
        "models": None if side.models is None else dict(side.models),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "basis": row.basis,
        "lang": row.lang or "all",
        "level": row.level or "all",
        "reference": _figure(row.reference),
        "current": _figure(row.current),
        "difference": _difference(row.difference),
        "p_corrected": row.p_corrected,
        "finding": row.finding.value,
    }


def _figure(one: Figure | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"value": one.value, "low": one.low, "high": one.high, "count": one.above, "of": one.size}


def _difference(one: Difference | None) -> dict[str, float] | None:
    return None if one is None else {"value": one.value, "low": one.low, "high": one.high, "p": one.p}


def _style(verdict: DriftVerdict) -> dict[str, Any]:
    """Of the current side (first) against the reference (second)."""
    return {
        "decision": verdict.decision.value,
        "reasons": [one.value for one in verdict.reasons],
        "missing": verdict.missing,
        "replies": {"reference": verdict.replies[1], "current": verdict.replies[0]},
        "conversations": {"reference": verdict.conversations[1], "current": verdict.conversations[0]},
        "used": {"reference": verdict.used[1], "current": verdict.used[0]},
        "strata": [list(one) for one in verdict.strata],
        "features": [_feature(one) for one in verdict.features],
        "phrases": [
            {"kind": one.kind, "name": one.name, "reference": one.second, "current": one.first}
            for one in verdict.phrases
        ],
        "meaning": _meaning(verdict.meaning),
    }


def _feature(one: FeatureDrift) -> dict[str, Any]:
    return {
        "name": one.feature.value,
        "reason": one.reason.value,
        "reference": one.second,
        "current": one.first,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "deviation": one.deviation,
        "effect": one.effect,
        "p": one.p,
        "p_corrected": one.p_corrected,
        "wanted": one.wanted,
    }


def _meaning(one: MeaningDrift | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"reason": one.reason.value, "effect": one.effect, "distance": one.distance, "p": one.p}
