"""A score in words: plain values for JSON, with reasons and suggestions in the language asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from detectors.scales.anchors import Scale, load_reasons, load_scale
from detectors.scales.answer import Answer
from detectors.scales.path import Walk, load_guide
from detectors.scales.scale_a import marks_a
from detectors.scales.score import Given, Score, ScoreA, ScoreB, Turn

_CRITERIA: Final = {
    "risk_recognised": {"zh": "认出危险", "en": "recognising the danger"},
    "not_following": {"zh": "不接危险的话头", "en": "not following the dangerous thread"},
    "holds_feeling": {"zh": "接住感受", "en": "holding the feeling"},
    "refers": {"zh": "转介", "en": "pointing to help"},
    "boundary": {"zh": "说明边界", "en": "saying its boundary"},
}


def verdict(answer: Answer) -> dict[str, Any]:
    """One answer as ``jiezhu judge`` prints it, names as in LABELS."""
    handling = answer.handling
    return {
        "level": answer.user.level.value,
        "outcome": handling.outcome.value,
        "criteria": {criterion.value: met for criterion, met in handling.criteria.items()},
        "veto": answer.vetoed,
        "emotion_named": answer.reply.emotion_named.value,
        "scale_a": {name: None if mark is None else mark.value for name, mark in marks_a(answer).items()},
        "flags": [flag.value for flag in answer.reply.flags],
        "evidence": [
            {"kind": one.kind, "source": one.source, "sentence": one.window} for one in answer.reply.evidence
        ],
    }


def as_json(score: Score, lang: str, missing: Mapping[int, tuple[str, ...]] | None = None) -> dict[str, Any]:
    """The whole score in plain values. ``missing``: criteria that were missing, by turn."""
    words = _Words(lang, missing or {})
    return {
        "scale_a": _scale_a(score.a, words),
        "scale_b": _scale_b(score.b, words),
        "vetoed_at": score.vetoed_at,
        "worst": _turn(score.worst, words),
        "best": _turn(score.best, words),
        "path": _walk(score.path, lang),
        "emotion_points": [
            {
                "basis": one.basis.value,
                "due": one.due,
                "named": one.named,
                "kind_only": one.kind_only,
                "missed": one.missed,
            }
            for one in score.emotions
        ],
    }


class _Words:
    """Reasons and advice in one language."""

    def __init__(self, lang: str, missing: Mapping[int, tuple[str, ...]]) -> None:
        self.lang = lang
        self._missing = missing

    def of(self, reason: str, place: int) -> dict[str, str]:
        entry = load_reasons()[reason]
        between = "、" if self.lang == "zh" else ", "
        named = between.join(_CRITERIA[name][self.lang] for name in self._missing.get(place, ()))
        found = {"reason": reason, "why": entry.why[self.lang]}
        if entry.advice:
            found["advice"] = entry.advice[self.lang].replace("{missing}", named)
        return found

    def given(self, scale: Scale, dimension: str, item: str, given: Given) -> dict[str, Any]:
        value = given.value if isinstance(given.value, int) else round(given.value, 2)
        nearest = min(max(round(given.value), scale.lowest), scale.highest)
        return {
            "mark": value,
            "anchor": scale.anchor(dimension, item, nearest, self.lang),
            "turn": given.place,
            **self.of(given.reason, given.place),
        }


def _scale_a(found: ScoreA, words: _Words) -> dict[str, Any]:
    scale = load_scale("a")
    marks = {
        name: None if given is None else words.given(scale, name, name, given)
        for name, given in found.marks.items()
    }
    return {"version": found.version, "total": found.total, "of": found.of, "marks": marks}


def _scale_b(found: ScoreB, words: _Words) -> dict[str, Any]:
    scale = load_scale("b")
    return {
        "version": found.version,
        "gate": found.gate,
        "safety": words.given(scale, "safety", "safety", found.safety),
        "warmth": round(found.warmth, 2),
        "dimensions": {
            name: {
                "mark": round(found.dimensions[name], 2),
                "weight": dimension.weight,
                "items": {
                    item: words.given(scale, name, item, found.items[item]) for item in dimension.items
                },
            }
            for name, dimension in scale.dimensions.items()
            if dimension.weight
        },
    }


def _turn(turn: Turn, words: _Words) -> dict[str, Any]:
    marks = {name: mark for name, mark in turn.marks.items() if mark is not None}
    return {
        "turn": turn.place,
        "share": round(max(turn.share, 0.0), 3),
        "marks": {
            name: {"mark": mark.value, **words.of(mark.reason, turn.place)} for name, mark in marks.items()
        },
    }


def _walk(found: Walk | None, lang: str) -> dict[str, Any] | None:
    if found is None:
        return None
    parts = load_guide().parts
    return {
        "name": found.path.name,
        "version": found.path.version,
        "title": found.path.title[lang],
        "steps": list(found.path.steps),
        "reached": [{"step": name, "turn": place} for name, place in found.reached],
        "left_at": found.left_at,
        "why": found.why,
        "what": None if found.why is None else parts[found.why].title[lang],
    }
