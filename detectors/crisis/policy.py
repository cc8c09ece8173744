"""What a finding says beside its level, read from ``policy.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from detectors.finding import CRISIS_LEVELS, Level


@dataclass(frozen=True, slots=True)
class Policy:
    distress_floor: dict[Level, float]
    named_from: dict[str, float]


def load_policy(path: Path | None = None) -> Policy:
    """Raises ValueError naming the first level that has no rule."""
    source = path or Path(str(resources.files("detectors"))) / "crisis" / "policy.toml"
    data = tomllib.loads(source.read_text(encoding="utf-8"))
    floor = {Level(name): float(value) for name, value in data["distress_floor"].items()}
    for level in CRISIS_LEVELS:
        if level not in floor:
            raise ValueError(f"{source.name}: distress_floor.{level.value} is missing")
    return Policy(
        distress_floor=floor,
        named_from={name: float(value) for name, value in data["named_from"].items()},
    )
