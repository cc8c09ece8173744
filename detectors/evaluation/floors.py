"""The floors an evaluation must keep: ``models/floors.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from detectors.evaluation.evaluate import Evaluation

SHIPPED: Final = Path(str(resources.files("detectors"))) / "models" / "floors.toml"


@dataclass(frozen=True, slots=True)
class Floors:
    """For each set: least ``recall``, ``pairs`` and ``auroc``, most ``false_alarms``."""

    sets: dict[str, dict[str, float]]


def load_floors(file: Path = SHIPPED) -> Floors:
    return Floors(tomllib.loads(file.read_text(encoding="utf-8")))


def shortfalls(evaluation: Evaluation, floors: Floors) -> list[str]:
    """What falls short, a line each: set, figure, found, asked. Empty where every floor is kept."""
    out = []
    for name, asked in floors.sets.items():
        one = evaluation.measured.get(name)
        if one is None:
            out.append(f"{name} was not measured")
            continue
        found = {
            "recall": one.recall.value,
            "auroc": one.auroc.value,
            "false_alarms": one.false_alarms.value,
            "pairs": evaluation.pairs[name].value if name in evaluation.pairs else float("nan"),
        }
        for figure, bound in asked.items():
            kept = found[figure] <= bound if figure == "false_alarms" else found[figure] >= bound
            if not kept:
                word = "at most" if figure == "false_alarms" else "at least"
                out.append(f"{name}: {figure} {found[figure]:.3f}, asked {word} {bound:.3f}")
    return out
