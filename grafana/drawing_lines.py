"""Panels with lines or bars over time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from amounts import written
from asking import Answer, Line, Span
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from paper import FAINT, INK, LINES, MUTED, Box, paint

_END = re.compile(r" (low|high)$")
_LETTER = 0.068  # inches of one letter of a legend
_LEGEND_ROW = 0.17
_MOST_ROWS = 4


def draw_lines(
    figure: Figure, box: Box, panel: Mapping[str, Any], answers: Sequence[Answer], span: Span
) -> None:
    lines = [line for answer in answers for line in answer.lines]
    defaults = panel["fieldConfig"]["defaults"]
    names = list(dict.fromkeys(_END.sub("", line.legend) for line in lines))
    rows, more = _legend(names, box.wide - 0.3)
    axes = figure.add_axes(box.within(0.72, 0.36 + _LEGEND_ROW * len(rows), 0.15, 0.08).sides)
    if not lines:
        _empty(axes, defaults["noValue"])
        return
    colours = {name: LINES[place % len(LINES)] for place, name in enumerate(names)}
    stacked = defaults["custom"].get("stacking", {}).get("mode") == "normal"
    if defaults["custom"]["drawStyle"] == "bars":
        _bars(axes, lines, colours, span, stacked=stacked)
    elif stacked:
        _areas(axes, lines, colours, span)
    else:
        _plain(axes, lines, colours)
    _scale(axes, defaults, span)
    _limits(figure, box, axes, defaults)
    _legend_below(figure, box, rows, colours, more)


def _empty(axes: Axes, words: str) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, ha="center", va="center", fontsize=11, color=MUTED, transform=axes.transAxes)


def _plain(axes: Axes, lines: Sequence[Line], colours: Mapping[str, str]) -> None:
    for line in lines:
        end = _END.search(line.legend) is not None
        axes.plot(
            line.times,
            line.values,
            color=colours[_END.sub("", line.legend)],
            linewidth=0.9 if end else 1.7,
            linestyle=(0, (4, 3)) if end else "-",
            marker="o" if len(line.times) == 1 else None,
            markersize=3,
        )


def _grid(lines: Sequence[Line], span: Span) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the moments of the span, and each line's values at them; 0 where it has none."""
    moments = np.arange(span.start, span.end + span.step / 2, span.step)
    laid = []
    for line in lines:
        values = np.zeros(len(moments))
        places = np.rint((np.array(line.times) - span.start) / span.step).astype(int)
        values[places] = np.nan_to_num(line.values)
        laid.append(values)
    return moments, laid


def _bars(
    axes: Axes, lines: Sequence[Line], colours: Mapping[str, str], span: Span, *, stacked: bool
) -> None:
    moments, laid = _grid(lines, span)
    below = np.zeros(len(moments))
    for place, (line, values) in enumerate(zip(lines, laid, strict=True)):
        share = 1 if stacked else len(lines)
        offset = 0 if stacked else (place - (share - 1) / 2) * span.step * 0.8 / share
        axes.bar(
            moments + offset,
            values,
            bottom=below if stacked else 0,
            width=span.step * 0.8 / share,
            color=colours[line.legend],
            alpha=0.85,
        )
        if stacked:
            below = below + values


def _areas(axes: Axes, lines: Sequence[Line], colours: Mapping[str, str], span: Span) -> None:
    moments, laid = _grid(lines, span)
    axes.stackplot(moments, laid, colors=[colours[line.legend] for line in lines], alpha=0.75)


def _scale(axes: Axes, defaults: Mapping[str, Any], span: Span) -> None:
    unit = defaults["unit"]
    axes.set_xlim(span.start, span.end)
    low, high = axes.get_ylim()
    if "min" in defaults:
        low = defaults["min"]
        high = max(high, low + (0.01 if unit == "percentunit" else 1 if unit == "short" else 0.05))
    # a line at the very top would be half cut off
    axes.set_ylim(low, defaults["max"] * 1.03 if "max" in defaults else high)
    whole = unit == "percentunit" and defaults.get("max") == 1
    axes.yaxis.set_major_locator(FixedLocator((0, 0.25, 0.5, 0.75, 1)) if whole else MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value, unit)))
    form = "%H:%M" if span.end - span.start > 1800 else "%H:%M:%S"
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda at, _: datetime.fromtimestamp(at, UTC).strftime(form))
    )
    axes.tick_params(labelsize=7.5, colors=MUTED, length=2)
    axes.grid(visible=True, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FAINT)


def _limits(figure: Figure, box: Box, axes: Axes, defaults: Mapping[str, Any]) -> None:
    """Thresholds as dashed lines where the picture reaches them; beside the title stands where they lie."""
    if defaults["custom"].get("thresholdsStyle", {}).get("mode") != "dashed":
        return
    top = axes.get_ylim()[1]
    told = []
    for step in defaults["thresholds"]["steps"]:
        if step["value"] is None:
            continue
        if step["value"] <= top:
            axes.axhline(step["value"], color=paint(step["color"]), linestyle=(0, (6, 4)), linewidth=1.1)
        told.append(f"{step['color']} from {written(step['value'], defaults['unit'])}")
    figure.text(
        box.x + box.w - box.part_of_width(0.1),
        box.y + box.h + box.part_of_height(0.22),
        ", ".join(told),
        ha="right",
        va="top",
        fontsize=7.5,
        color=MUTED,
    )


def _legend(names: Sequence[str], wide: float) -> tuple[list[list[str]], int]:
    """Return rows of names that fit into ``wide`` inches, and how many are left over."""
    rows: list[list[str]] = []
    room = 0.0
    for place, name in enumerate(names):
        takes = 0.3 + _LETTER * len(name)
        if not rows or room + takes > wide:
            if len(rows) == _MOST_ROWS:
                return rows, len(names) - place
            rows.append([])
            room = 0.0
        rows[-1].append(name)
        room += takes
    return rows, 0


def _legend_below(
    figure: Figure, box: Box, rows: Sequence[Sequence[str]], colours: Mapping[str, str], more: int
) -> None:
    for number, row in enumerate(rows):
        at = 0.12
        y = box.y + box.part_of_height(0.1 + _LEGEND_ROW * (len(rows) - 1 - number))
        for name in row:
            figure.text(box.x + box.part_of_width(at), y, "■", fontsize=7, color=colours[name], va="center")
            figure.text(box.x + box.part_of_width(at + 0.13), y, name, fontsize=7.5, color=INK, va="center")
            at += 0.3 + _LETTER * len(name)
        if more and number == len(rows) - 1:
            figure.text(
                box.x + box.w - box.part_of_width(0.1),
                y,
                f"and {more} more",
                fontsize=7.5,
                color=MUTED,
                va="center",
                ha="right",
            )
