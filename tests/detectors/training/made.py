"""Examples and states small enough to follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from detectors.finding import Level
from detectors.training.example import Example, Said
from detectors.training.states import LowerStates
from detectors.turn import Role

WIDTH = 32  # of a state, as in the tiny encoder


def said(*texts: str) -> tuple[Said, ...]:
    """A conversation that ends with its user; a text that begins with ``>`` is the assistant's."""
    return tuple(
        Said(Role.ASSISTANT, text[1:]) if text.startswith(">") else Said(Role.USER, text) for text in texts
    )


def example(*texts: str, group: str = "f", lang: str = "zh", **labels: Any) -> Example:
    return Example("own", group, lang, said(*texts), **labels)


def risky(*texts: str, level: Level = Level.ACTIVE_IDEATION, **labels: Any) -> Example:
    return example(*texts, crisis=True, level=level, **({"kind": "plain"} | labels))


def calm(*texts: str, **labels: Any) -> Example:
    return example(*texts, crisis=False, level=Level.NONE, **({"kind": "everyday"} | labels))


def states(lengths: Iterable[int], seed: int = 1) -> LowerStates:
    many = np.array(list(lengths))
    source = np.random.default_rng(seed)
    return LowerStates(source.normal(size=(many.sum(), WIDTH)).astype(np.float16), many)


def write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def own_row(name: str, text: str, *, level: Level = Level.NONE, **changed: Any) -> dict[str, Any]:
    """A row as the corpora hold it."""
    row = {
        "id": name,
        "lang": "zh",
        "text": text,
        "level": level.value,
        "distress": 1,
        "emotions": ["sadness"],
        "cues": ["masking"],
        "kind": "plain" if level.crisis else "everyday",
        "family": name,
        "held_out": False,
    }
    return row | changed
