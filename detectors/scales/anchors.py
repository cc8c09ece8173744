"""The scales as data: dimensions, what each mark means, weights and versions (``a.toml``, ``b.toml``); reasons and advice."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("zh", "en")
_HEAD: Final = frozenset({"version", "lowest", "highest"})


@dataclass(frozen=True, slots=True)
class Item:
    """``anchors``: what each mark means, from the lowest up, by language."""

    name: Mapping[str, str]
    anchors: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Dimension:
    """``weight`` in percent, 0 for a gate. In scale A a dimension is its only item."""

    name: Mapping[str, str]
    items: Mapping[str, Item]
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    version: str
    lowest: int
    highest: int
    dimensions: Mapping[str, Dimension]

    def anchor(self, dimension: str, item: str, mark: int, lang: str) -> str:
        """What a mark means. Raises ``KeyError`` for what the scale does not have."""
        return self.dimensions[dimension].items[item].anchors[lang][mark - self.lowest]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a mark was given, and what would raise it (empty where nothing need be), by language."""

    why: Mapping[str, str]
    advice: Mapping[str, str] = field(default_factory=dict)


@lru_cache(maxsize=2)
def load_scale(name: str) -> Scale:
    """Return scale ``a`` or ``b``. Raises ``ValueError`` where a dimension lacks an anchor for a mark."""
    data = _read(f"{name}.toml")
    scale = Scale(
        version=data["version"],
        lowest=data["lowest"],
        highest=data["highest"],
        dimensions={key: _dimension(key, entry) for key, entry in data.items() if key not in _HEAD},
    )
    marks = scale.highest - scale.lowest + 1
    for key, dimension in scale.dimensions.items():
        for item in dimension.items.values():
            if any(len(item.anchors[lang]) != marks for lang in LANGUAGES):
                raise ValueError(f"scale {name}: {key} needs {marks} anchors in each language")
    return scale


@lru_cache(maxsize=1)
def load_reasons() -> Mapping[str, Reason]:
    """Reasons by name, in both languages."""
    return {
        name: Reason(entry["why"], entry.get("advice", {})) for name, entry in _read("reasons.toml").items()
    }


def _dimension(key: str, entry: Mapping[str, Any]) -> Dimension:
    items = entry.get("items", {key: entry})
    return Dimension(
        name=entry["name"],
        items={
            name: Item(item["name"], {lang: tuple(item["anchors"][lang]) for lang in LANGUAGES})
            for name, item in items.items()
        },
        weight=entry.get("weight", 0),
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("detectors.scales").joinpath(name).read_text(encoding="utf-8"))
