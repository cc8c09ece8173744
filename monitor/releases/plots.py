"""The pictures of a report: every difference with its interval, as SVG that a page holds in itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from detectors.drift.verdict import DriftVerdict, Reason
from monitor.releases import words
from monitor.releases.comparison import Comparison
from monitor.releases.row import Family, Finding, Row

_INK, _FAINT, _WORSE, _BETTER, _OTHER = "#1f2328", "#8c959f", "#b3261e", "#1b6e3c", "#0b5cad"
_COLOURS: Final = {Finding.WORSE: _WORSE, Finding.BETTER: _BETTER, Finding.OTHER: _OTHER}
_INCH_A_LINE: Final = 0.24
_WIDE: Final = 7.2  # inches
_MOST: Final = 24  # lines of one picture
_HEAD: Final = re.compile(r"^.*?(?=<svg)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """A point with its interval."""

    label: str
    value: float
    low: float
    high: float
    colour: str


def rates_plot(found: Comparison) -> str:
    """Differences of shares, in percentage points; empty if there is none to draw."""
    rows = [row for row in found.of(Family.RATE) if row.difference is not None]
    return _draw(
        _lines(rows, lambda row: f"{words.title(row)} ({row.basis})", 100),
        "current less reference, percentage points",
    )


def marks_plot(found: Comparison) -> str:
    rows = [row for row in found.of(Family.MARK) if row.difference is not None]
    return _draw(
        _lines(rows, lambda row: f"{words.title(row)} ({row.basis})", 1), "current less reference, marks"
    )


def style_plot(verdict: DriftVerdict) -> str:
    """Effects of all features that vary, what drifted and the largest first."""
    lines = [
        Line(
            words.plain(one.feature.value),
            one.effect,
            one.low / one.deviation,
            one.high / one.deviation,
            _WORSE if one.drifted else _FAINT if one.reason is Reason.TOO_FEW_REPLIES else _INK,
        )
        for one in words.by_effect(verdict)
        if words.varies(one)
    ]
    return _draw(lines, "current less reference, standard deviations")


def _lines(rows: Sequence[Row], label: Callable[[Row], str], times: float) -> list[Line]:
    """Findings first, then as in the table."""
    order = sorted(rows, key=lambda row: row.finding in (Finding.WITHIN_CHANCE, Finding.NOT_ENOUGH))
    return [
        Line(
            label(row),
            one.value * times,
            one.low * times,
            one.high * times,
            _FAINT if row.finding is Finding.NOT_ENOUGH else _COLOURS.get(row.finding, _INK),
        )
        for row in order
        if (one := row.difference) is not None
    ]


def _draw(lines: Sequence[Line], axis: str) -> str:
    drawn = lines[:_MOST]
    if not drawn:
        return ""
    # Text stays text, and the same figures give the same bytes.
    with mpl.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "jiezhu", "font.family": "sans-serif", "font.size": 8}
    ):
        figure = Figure(figsize=(_WIDE, 0.7 + _INCH_A_LINE * len(drawn)), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        axes.axvline(0, color=_FAINT, linewidth=0.8, linestyle=":")
        for place, line in enumerate(drawn):
            axes.plot((line.low, line.high), (place, place), color=line.colour, linewidth=1.2)
            axes.plot(line.value, place, "o", color=line.colour, markersize=3.5)
        axes.set_yticks(range(len(drawn)), [line.label for line in drawn])
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.set_xlabel(axis)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", alpha=0.25)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _HEAD.sub("", out.getvalue())
