"""Labelled conversations and the groups they are counted in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from detectors.finding import Cue, Emotion, Level, UserSignal
from detectors.training.example import Example, Said


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation that ends with the judged user turn.

    ``crisis`` and ``level`` are its truth, None where not known; ``slices`` the groups it is counted in, the first
    being its set; ``family`` keeps a minimal pair together.
    """

    turns: tuple[Said, ...] = field(repr=False)
    lang: str
    crisis: bool | None
    slices: tuple[str, ...]
    level: Level | None = None
    distress: int | None = None
    family: str = ""
    emotions: frozenset[Emotion] | None = None
    cues: frozenset[Cue] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with what was found."""

    row: Row
    signal: UserSignal


def row_of(example: Example, name: str) -> Row:
    """A row of ours, counted in its set, language, level, kind, and as a single turn or in context."""
    slices = [name, f"{name}/{example.lang}", f"{name}/{'single' if example.single else 'context'}"]
    if example.kind:
        slices.append(f"{name}/kind/{example.kind}")
    if example.level is not None:
        slices.append(f"{name}/level/{example.level.value}")
    if example.part:
        slices.append(f"{name}/{example.part}")
    return Row(
        example.turns,
        example.lang,
        example.crisis,
        tuple(slices),
        example.level,
        example.distress,
        example.group,
        example.emotions,
        example.cues,
    )


def by_slice(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Groups in the order they come."""
    out: dict[str, list[Judged]] = {}
    for one in judged:
        for name in one.row.slices:
            out.setdefault(name, []).append(one)
    return out
