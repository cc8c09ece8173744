"""Panels with one number, a table, or words of ours."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amounts import written
from asking import Answer, Span
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from paper import FAINT, INK, MUTED, Box, colour_of, words_for

_ROW = 0.215  # inches of a table's row
_TEXT_ROW = 0.19
_LETTER = 0.071
Cell = tuple[str, str | None]
"""What stands in a table's cell, and the colour behind it."""


def draw_figure(
    figure: Figure, box: Box, panel: Mapping[str, Any], answers: Sequence[Answer], span: Span
) -> None:
    del span
    defaults = panel["fieldConfig"]["defaults"]
    values = [line.last for answer in answers for line in answer.lines]
    middle = (box.x + box.w / 2, box.y + box.h * 0.55)
    if not values:
        figure.text(*middle, defaults["noValue"], ha="center", va="center", fontsize=12, color=MUTED)
        return
    words = words_for(values[0], defaults.get("mappings") or ())
    shown, colour = words or (
        written(values[0], defaults["unit"], defaults.get("decimals")),
        colour_of(values[0], defaults["thresholds"]["steps"]),
    )
    filled = panel["options"]["colorMode"] == "background"
    if filled:
        inner = box.within(0.06, 0.06, 0.06, 0)
        figure.add_artist(Rectangle((inner.x, inner.y), inner.w, inner.h, facecolor=colour, zorder=1))
    size = min(22.0, box.wide * 72 / len(shown) / 0.62)
    figure.text(
        *middle,
        shown,
        ha="center",
        va="center",
        fontsize=size,
        fontweight="bold",
        color="white" if filled else colour,
        zorder=2,
    )


def draw_table(
    figure: Figure, box: Box, panel: Mapping[str, Any], answers: Sequence[Answer], span: Span
) -> None:
    del span
    header, rows = _cells(panel, answers)
    if not rows:
        figure.text(
            box.x + box.w / 2,
            box.y + box.h / 2,
            panel["fieldConfig"]["defaults"]["noValue"],
            ha="center",
            va="center",
            fontsize=11,
            color=MUTED,
        )
        return
    room = int((box.high - 0.15) / _ROW) - 1
    shown = rows if len(rows) <= room else rows[: room - 1]
    widths = [
        max([len(name), *(len(row[place][0]) for row in shown)]) + 2 for place, name in enumerate(header)
    ]
    total = sum(widths)
    size = min(8.5, (box.wide - 0.2) * 72 / total / 0.6)
    lefts = [sum(widths[:place]) / total for place in range(len(widths))]
    head: list[Cell] = [(name, None) for name in header]
    for number, row in enumerate([head, *shown]):
        y = box.y + box.h - box.part_of_height(_ROW * (number + 0.5))
        for place, (text, colour) in enumerate(row):
            x = box.x + box.part_of_width(0.1) + lefts[place] * (box.w - box.part_of_width(0.2))
            if colour:
                figure.add_artist(
                    Rectangle(
                        (x - box.part_of_width(0.04), y - box.part_of_height(_ROW * 0.45)),
                        widths[place] / total * (box.w - box.part_of_width(0.2)) * 0.96,
                        box.part_of_height(_ROW * 0.9),
                        facecolor=colour,
                        zorder=1,
                    )
                )
            figure.text(
                x,
                y,
                text,
                fontsize=size,
                va="center",
                color="white" if colour else MUTED if number == 0 else INK,
                fontweight="bold" if number == 0 else "normal",
                zorder=2,
            )
    if len(rows) > len(shown):
        figure.text(
            box.x + box.part_of_width(0.1),
            box.y + box.part_of_height(0.12),
            f"and {len(rows) - len(shown)} more rows",
            fontsize=8,
            color=MUTED,
        )


def _cells(panel: Mapping[str, Any], answers: Sequence[Answer]) -> tuple[list[str], list[list[Cell]]]:
    """Return the names of the columns and the rows: each cell its words and the colour behind them."""
    organised = next(t["options"] for t in panel["transformations"] if t["id"] == "organize")
    names: dict[str, str] = organised["renameByName"]
    order = sorted(organised["indexByName"], key=organised["indexByName"].get)
    labels = [name for name in order if name not in names]
    columns = [names[name] for name in order if name in names]
    looks = {
        one["matcher"]["options"]: {p["id"]: p["value"] for p in one["properties"]}
        for one in panel["fieldConfig"]["overrides"]
    }
    values: dict[tuple[str, ...], dict[str, float]] = {}
    for column, answer in zip(columns, answers, strict=True):
        for line in answer.lines:
            key = tuple(line.labels.get(label, "") for label in labels)
            values.setdefault(key, {})[column] = line.last
    return [*labels, *columns], [
        [
            *((word, None) for word in key),
            *(_cell(values[key].get(column), looks[column]) for column in columns),
        ]
        for key in sorted(values)
    ]


def _cell(value: float | None, look: Mapping[str, Any]) -> Cell:
    if value is None:
        return "", None
    if words := words_for(value, look.get("mappings", ())):
        return words
    shown = written(value, look["unit"], look.get("decimals"))
    return shown, colour_of(value, look["thresholds"]["steps"]) if "thresholds" in look else None


def draw_text(
    figure: Figure, box: Box, panel: Mapping[str, Any], answers: Sequence[Answer], span: Span
) -> None:
    del answers, span
    letters = int((box.wide - 0.3) / _LETTER)
    for number, (text, code) in enumerate(_wrapped(panel["options"]["content"], letters)):
        figure.text(
            box.x + box.part_of_width(0.12),
            box.y + box.h - box.part_of_height(_TEXT_ROW * (number + 0.6)),
            text,
            fontsize=8.5,
            va="center",
            color=INK,
            family="monospace" if code else "sans-serif",
            backgroundcolor=FAINT if code else "none",
        )


def _wrapped(content: str, letters: int) -> Iterator[tuple[str, bool]]:
    """Yield lines that fit, and whether each is code. Markdown's stars go."""
    code = False
    paragraph: list[str] = []

    def flowed() -> Iterator[tuple[str, bool]]:
        for text in textwrap.wrap(" ".join(paragraph), letters, subsequent_indent="  "):
            yield text, False
        paragraph.clear()

    for line in content.splitlines():
        if line.startswith("```"):
            yield from flowed()
            code = not code
        elif code:
            yield line, True
        else:
            if line.startswith("- ") or not line:
                yield from flowed()
            paragraph.append(re.sub(r"\*+", "", line.strip()).replace("- ", "• ", 1))
    yield from flowed()
