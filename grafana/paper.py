"""Places and colours on the paper that dashboards are drawn on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INK, MUTED, FAINT = "#1f2937", "#6b7280", "#e5e7eb"
COLOURS = {
    "green": "#2e9e5b",
    "orange": "#e08a00",
    "red": "#d13438",
    "blue": "#2f6fde",
    "transparent": "",
}
LINES = (
    "#2f6fde",
    "#e08a00",
    "#2e9e5b",
    "#a855c7",
    "#0e9aa7",
    "#d13438",
    "#8c6d46",
    "#6b7280",
    "#c2588f",
    "#7a9a01",
    "#4f46a5",
    "#b45309",
)
_HEAD = 0.3  # inches that a panel's title takes


@dataclass(frozen=True, slots=True)
class Box:
    """A place: left, bottom, width and height in parts of the figure; ``wide`` and ``high`` the same in inches."""

    x: float
    y: float
    w: float
    h: float
    wide: float
    high: float

    def part_of_width(self, inches: float) -> float:
        return self.w * inches / self.wide

    def part_of_height(self, inches: float) -> float:
        return self.h * inches / self.high

    def within(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return the place inside, so many inches from each side."""
        wide, high = self.wide - left - right, self.high - bottom - top
        return Box(
            self.x + self.part_of_width(left),
            self.y + self.part_of_height(bottom),
            self.part_of_width(wide),
            self.part_of_height(high),
            wide,
            high,
        )

    def below_title(self) -> Box:
        return self.within(0, 0, 0, _HEAD)

    @property
    def sides(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.w, self.h)


def paint(name: str) -> str:
    """Return what a colour of Grafana's is here; empty for none."""
    return COLOURS.get(name, name)


def colour_of(value: float, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the colour of the highest threshold that ``value`` has reached."""
    reached = [step for step in steps if step["value"] is None or value >= step["value"]]
    return paint(reached[-1]["color"])


def words_for(value: float, mappings: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the word and the colour that ``value`` stands for, if it stands for one."""
    for one in mappings:
        if found := one["options"].get(f"{value:g}"):
            return found["text"], paint(found["color"])
    return None
