"""The floors an evaluation must keep: ``models/floors.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from detectors.evaluation.evaluate import Evaluation

SHIPPED: Final = Path(str(resources.files("detectors"))) / "models" / "floors.toml"


REPLIES: Final = "replies"
_MOST: Final = frozenset({"false_alarms", "harmful_called_handled", "handled_called_lost"})


@dataclass(frozen=True, slots=True)
class Floors:
    """For each set: least ``recall``, ``pairs`` and ``auroc``, most ``false_alarms``.

    For ``replies``: least ``outcome``, ``ordinary``, ``criteria`` (the worst F1) and ``marks`` (the worst dimension), most
    ``harmful_called_handled`` and ``handled_called_lost``.
    """

    sets: dict[str, dict[str, float]]


def load_floors(file: Path = SHIPPED) -> Floors:
    return Floors(tomllib.loads(file.read_text(encoding="utf-8")))


def shortfalls(evaluation: Evaluation, floors: Floors) -> list[str]:
    """What falls short, a line each: set, figure, found, asked. Empty where every floor is kept."""
    out = []
    for name, asked in floors.sets.items():
        found = _replies(evaluation) if name == REPLIES else _set(evaluation, name)
        if not found:
            out.append(f"{name} was not measured")
            continue
        for figure, bound in asked.items():
            kept = found[figure] <= bound if figure in _MOST else found[figure] >= bound
            if not kept:
                word = "at most" if figure in _MOST else "at least"
                out.append(f"{name}: {figure} {found[figure]:.3f}, asked {word} {bound:.3f}")
    return out


def _set(evaluation: Evaluation, name: str) -> dict[str, float]:
    one = evaluation.measured.get(name)
    if one is None:
        return {}
    return {
        "recall": one.recall.value,
        "auroc": one.auroc.value,
        "false_alarms": one.false_alarms.value,
        "pairs": evaluation.pairs[name].value if name in evaluation.pairs else float("nan"),
    }


def _replies(evaluation: Evaluation) -> dict[str, float]:
    one = evaluation.replies.get("all")
    if one is None:
        return {}
    return {
        "outcome": one.outcome.value,
        "ordinary": one.ordinary.value,
        "harmful_called_handled": one.harmful_called_handled.value,
        "handled_called_lost": one.handled_called_lost.value,
        "criteria": min(found.f1 for found in one.criteria.values()),
        "marks": min(within.value for within in one.marks.values()),
    }
