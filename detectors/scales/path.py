"""Golden paths (S3): whether a conversation took the steps of a good one in order, and where it left the path."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from detectors.reply.evidence import GUIDANCE
from detectors.scales.answer import EMOTION_DUE, Answer


@dataclass(frozen=True, slots=True)
class Part:
    """A step or a prohibition: what it is called in each language, and the signs by which it is known."""

    title: Mapping[str, str]
    signs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Path:
    """``steps`` in order; ``never`` must not happen before the last of them; ``when`` says for whom."""

    name: str
    version: str
    title: Mapping[str, str]
    when: frozenset[str]
    steps: tuple[str, ...]
    never: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """``reached``: the steps taken, with the turn of each. ``left_at``: the turn at which the path was left.

    ``why`` names the step that did not come or the prohibition that was broken; None where it was gone to its end.
    """

    path: Path
    reached: tuple[tuple[str, int], ...]
    left_at: int | None
    why: str | None


@dataclass(frozen=True, slots=True)
class Guide:
    paths: tuple[Path, ...]
    parts: Mapping[str, Part]


@lru_cache(maxsize=1)
def load_guide() -> Guide:
    """The paths that are shipped. Raises ``KeyError`` where a path names a step that is not described."""
    data = tomllib.loads(files("detectors.scales").joinpath("paths.toml").read_text(encoding="utf-8"))
    parts = {
        name: Part(entry["title"], frozenset(entry["signs"]))
        for name, entry in (*data["steps"].items(), *data["prohibitions"].items())
    }
    paths = tuple(
        Path(
            entry["name"],
            data["version"],
            entry["title"],
            frozenset(entry["when"]),
            tuple(entry["steps"]),
            tuple(entry["never"]),
        )
        for entry in data["path"]
    )
    unknown = {name for path in paths for name in (*path.steps, *path.never)} - parts.keys()
    if unknown:
        raise KeyError(f"paths name what is not described: {', '.join(sorted(unknown))}")
    return Guide(paths, parts)


def walk(answers: Sequence[Answer], guide: Guide | None = None) -> Walk | None:
    """Follow the path that is for this person. None where nobody was in need of one."""
    guide = guide or load_guide()
    found = _path_for(answers, guide.paths)
    if found is None:
        return None
    path, first = found
    reached: list[tuple[str, int]] = []
    for answer in answers[first:]:
        signs = _signs(answer)
        broken = next((name for name in path.never if guide.parts[name].signs & signs), None)
        if broken is not None:
            return Walk(path, tuple(reached), answer.place, broken)
        while len(reached) < len(path.steps) and guide.parts[path.steps[len(reached)]].signs & signs:
            reached.append((path.steps[len(reached)], answer.place))
        if len(reached) == len(path.steps):
            return Walk(path, tuple(reached), None, None)
    return Walk(path, tuple(reached), answers[-1].place, path.steps[len(reached)])


def _path_for(answers: Sequence[Answer], paths: Sequence[Path]) -> tuple[Path, int] | None:
    """The first path that anybody's turn asks for, and the answer from which it is due."""
    for path in paths:
        for index, answer in enumerate(answers):
            if path.when & _needs(answer):
                return path, index
    return None


def _needs(answer: Answer) -> frozenset[str]:
    user = answer.user
    if user.level.crisis:
        return frozenset({"crisis"})
    if not answer.emotion_due:
        return frozenset()
    strained = {"distress"} if user.distress >= EMOTION_DUE else set()
    return frozenset({*strained, *(one.value for one in user.emotions), *(one.value for one in user.cues)})


def _signs(answer: Answer) -> frozenset[str]:
    reply = answer.reply
    met = {name.value for name, kept in answer.handling.criteria.items() if kept}
    return frozenset(
        {
            *met,
            *(flag.value for flag in reply.flags),
            reply.emotion_named.value,
            *({"harm"} if reply.harm else set()),
            *(one.source for one in reply.evidence if one.kind == GUIDANCE),
        }
    )
