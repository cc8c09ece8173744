"""Figures and lines, with one look. Tables and texts stand in ``tables.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import stat, timeseries
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
GOOD, WATCH, BAD, PLAIN, GREY = "green", "orange", "red", "blue", "#808a99"
EMPTY = "no data yet"
INTERVAL = "/ (low|high)$/"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a figure turns from good over ``watch`` to ``bad``; ``watch`` may be left out."""

    bad: float
    watch: float | None = None

    def build(self) -> ThresholdsConfig:
        steps: list[Threshold] = [Threshold(value=None, color=GOOD)]
        if self.watch is not None:
            steps.append(Threshold(value=self.watch, color=WATCH))
        steps.append(Threshold(value=self.bad, color=BAD))
        return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A figure that is bad below ``good``."""

    good: float

    def build(self) -> ThresholdsConfig:
        steps = [Threshold(value=None, color=BAD), Threshold(value=self.good, color=GOOD)]
        return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


Words = Mapping[int, tuple[str, str]]
"""What a number stands for: a word and its colour."""


def mapping(words: Words) -> ValueMap:
    return ValueMap(
        {
            str(value): ValueMappingResult(text=text, color=color, index=place)
            for place, (value, (text, color)) in enumerate(words.items())
        }
    )


NO_LIMITS = ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps([Threshold(value=None, color=PLAIN)])


def figure(
    title: str,
    description: str,
    expr: str,
    *,
    unit: str = "short",
    limits: Limits | AtLeast | None = None,
    words: Words | None = None,
    decimals: int | None = None,
    width: int = 4,
    height: int = 4,
) -> stat.Panel:
    """One number over the whole range shown, or the one of ``words`` that it stands for."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .thresholds(limits.build() if limits else NO_LIMITS)
        .color_mode(
            common.BigValueColorMode.BACKGROUND if limits or words else common.BigValueColorMode.VALUE
        )
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
        .no_value(EMPTY)
        .span(width)
        .height(height)
        .with_target(Dataquery().ref_id("A").expr(expr).instant().datasource(SOURCE))
    )
    if words:
        panel.mappings([mapping(words)])
    return panel if decimals is None else panel.decimals(decimals)


def lines(
    title: str,
    description: str,
    queries: Sequence[tuple[str, str]],
    *,
    unit: str = "short",
    limits: Limits | AtLeast | None = None,
    stacked: bool = False,
    bars: bool = False,
    width: int = 12,
    height: int = 8,
    bottom: float | None = 0,
    top: float | None = None,
) -> timeseries.Panel:
    """Lines or bars over time; ``queries`` are pairs of expression and legend.

    Legends that end in ``low`` or ``high`` are the ends of an interval, and drawn as such.
    """
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .no_value(EMPTY)
        .line_width(2)
        .fill_opacity(60 if stacked or bars else 8)
        .draw_style(common.GraphDrawStyle.BARS if bars else common.GraphDrawStyle.LINE)
        .show_points(common.VisibilityMode.AUTO)
        .legend(
            common_builders.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(
            common_builders.VizTooltipOptions()
            .mode(common.TooltipDisplayMode.MULTI)
            .sort(common.SortOrder.DESCENDING)
        )
        .span(width)
        .height(height)
    )
    if stacked:
        panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL))
    if bottom is not None:
        panel.min(bottom)
    if top is not None:
        panel.max(top)
    panel.override_by_regexp(
        INTERVAL,
        [
            DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [4, 6]}),
            DynamicConfigValue("custom.lineWidth", 1),
            DynamicConfigValue("custom.fillOpacity", 0),
        ],
    )
    panel.thresholds(limits.build() if limits else NO_LIMITS)
    if limits:
        panel.thresholds_style(
            common_builders.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED)
        )
    if bars:
        panel.interval("1m")
    for number, (expr, legend) in enumerate(queries):
        panel.with_target(
            Dataquery()
            .ref_id(chr(ord("A") + number))
            .expr(expr)
            .legend_format(legend)
            .range()
            .datasource(SOURCE)
        )
    return panel
