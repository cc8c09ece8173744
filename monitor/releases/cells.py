"""Figures as people read them: shares in percent, marks in points, latencies in seconds, effects in standard deviations."""

from __future__ import annotations

from detectors.drift.verdict import FeatureDrift
from monitor.releases import words
from monitor.releases.difference import Figure
from monitor.releases.row import Family, Row

NOTHING = "–"
_UNITS = {Family.RATE: " %", Family.MARK: "", Family.LATENCY: " s"}


def figure(row: Row, one: Figure | None) -> str:
    """With its interval and what it is of."""
    if one is None:
        return NOTHING
    of = f"{one.above} of {one.size}" if one.above is not None else f"n {one.size}"
    return f"{_number(row, one.value)}{_UNITS[row.family]} ({_number(row, one.low)} to {_number(row, one.high)}), {of}"


def difference(row: Row) -> str:
    one = row.difference
    if one is None:
        return NOTHING
    unit = {Family.RATE: " pp", Family.MARK: "", Family.LATENCY: " s"}[row.family]
    return f"{_signed(row, one.value)}{unit} ({_signed(row, one.low)} to {_signed(row, one.high)})"


def chance(p: float | None) -> str:
    if p is None:
        return NOTHING
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def effect(one: FeatureDrift) -> str:
    if not words.varies(one):
        return "never varies on a side"
    return f"{one.effect:+.2f} ({one.low / one.deviation:+.2f} to {one.high / one.deviation:+.2f})"


def share(value: float) -> str:
    return f"{value * 100:.1f} %"


def _number(row: Row, value: float) -> str:
    return f"{value * 100:.1f}" if row.family is Family.RATE else f"{value:.2f}"


def _signed(row: Row, value: float) -> str:
    return f"{value * 100:+.1f}" if row.family is Family.RATE else f"{value:+.2f}"
