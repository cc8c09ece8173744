"""A dashboard on paper: its grid, and in each place what the panel there shows. One figure a dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from asking import Answer, Span
from drawing_lines import draw_lines
from drawing_words import draw_figure, draw_table, draw_text
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from paper import INK, MUTED, Box

COLUMNS = 24
_WIDTH = 16.0  # inches
_UNIT = 0.33  # inches of one step of the grid downwards
_MARGIN = 0.25
_TITLE = 0.55  # inches above the first panel
_FOOT = 0.4

Draw = Callable[[Figure, Box, Mapping[str, Any], Sequence[Answer], Span], None]
_KINDS: Mapping[str, Draw] = {
    "stat": draw_figure,
    "timeseries": draw_lines,
    "table": draw_table,
    "text": draw_text,
}


def draw(
    board: Mapping[str, Any],
    answers: Callable[[Mapping[str, Any]], Sequence[Answer]],
    span: Span,
    caption: str,
) -> Figure:
    """Return the picture of a dashboard; ``answers`` says what a panel's queries said."""
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"])
    height = rows * _UNIT + _TITLE + _FOOT
    figure = Figure(figsize=(_WIDTH, height), facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(
        _MARGIN / _WIDTH,
        1 - 0.2 / height,
        board["title"],
        fontsize=16,
        fontweight="bold",
        color=INK,
        va="top",
    )
    figure.text(_MARGIN / _WIDTH, 0.14 / height, caption, fontsize=9, color=MUTED)
    for panel in board["panels"]:
        box = _box(panel["gridPos"], height)
        if panel["type"] == "row":
            figure.text(
                box.x, box.y + box.h * 0.25, panel["title"], fontsize=12.5, fontweight="bold", color=INK
            )
            continue
        _frame(figure, box, panel["title"])
        _KINDS[panel["type"]](figure, box.below_title(), panel, answers(panel), span.of(panel))
    return figure


def _box(place: Mapping[str, int], height: float) -> Box:
    """Where a panel lies, in parts of the figure; ``inches`` of its sides are kept beside."""
    column = (_WIDTH - 2 * _MARGIN) / COLUMNS
    gap = 0.05
    x, w = _MARGIN + place["x"] * column + gap, place["w"] * column - 2 * gap
    top, h = _TITLE + place["y"] * _UNIT + gap, place["h"] * _UNIT - 2 * gap
    return Box(x / _WIDTH, (height - top - h) / height, w / _WIDTH, h / height, w, h)


def _frame(figure: Figure, box: Box, title: str) -> None:
    figure.add_artist(
        FancyBboxPatch(
            (box.x, box.y),
            box.w,
            box.h,
            boxstyle="square,pad=0",
            linewidth=0.8,
            edgecolor="#d0d5dd",
            facecolor="white",
            zorder=0,
        )
    )
    size = min(9.5, box.wide * 72 / max(len(title), 1) / 0.56)
    figure.text(
        box.x + box.part_of_width(0.08),
        box.y + box.h - box.part_of_height(0.08),
        title,
        fontsize=size,
        fontweight="bold",
        color=INK,
        va="top",
    )
