"""The kinds of panel that our dashboards are made of, with one look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import stat, table, timeseries
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
GOOD, WATCH, BAD, PLAIN = "green", "orange", "red", "blue"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a figure turns from good over ``watch`` to ``bad``; ``watch`` may be left out."""

    bad: float
    watch: float | None = None

    def build(self) -> ThresholdsConfig:
        steps = [Threshold(value=None, color=GOOD)]
        if self.watch is not None:
            steps.append(Threshold(value=self.watch, color=WATCH))
        steps.append(Threshold(value=self.bad, color=BAD))
        return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


NO_LIMITS = ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps([Threshold(value=None, color=PLAIN)])


def figure(
    title: str,
    description: str,
    expr: str,
    *,
    unit: str = "short",
    limits: Limits | None = None,
    decimals: int | None = None,
    width: int = 4,
) -> stat.Panel:
    """One number over the whole range shown."""
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .thresholds(limits.build() if limits else NO_LIMITS)
        .color_mode(common.BigValueColorMode.BACKGROUND if limits else common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.NONE)
        .reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
        .no_value("no data")
        .span(width)
        .height(4)
        .with_target(Dataquery().ref_id("A").expr(expr).instant().datasource(SOURCE))
    )
    return panel if decimals is None else panel.decimals(decimals)


def lines(
    title: str,
    description: str,
    queries: Sequence[tuple[str, str]],
    *,
    unit: str = "short",
    limits: Limits | None = None,
    stacked: bool = False,
    bars: bool = False,
    width: int = 12,
    top: float | None = None,
) -> timeseries.Panel:
    """Lines or bars over time; ``queries`` are pairs of expression and legend."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
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
        .height(8)
    )
    if stacked:
        panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL))
    if top is not None:
        panel.max(top)
    if limits:
        panel.thresholds(limits.build()).thresholds_style(
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: ``expr`` gives one value a row."""

    name: str
    expr: str
    unit: str = "short"
    limits: Limits | None = None


def grid(title: str, description: str, rows: Sequence[str], columns: Sequence[Column]) -> table.Panel:
    """Draw a table: one row for each set of the labels ``rows``, one column a query."""
    values = [f"Value #{chr(ord('A') + number)}" for number in range(len(columns))]
    order = {name: place for place, name in enumerate((*rows, *values))}
    panel = (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .thresholds(NO_LIMITS)
        .span(24)
        .height(8)
        .with_transformation(DataTransformerConfig(id_val="merge", options={}))
        .with_transformation(
            DataTransformerConfig(
                id_val="organize",
                options={
                    "excludeByName": {"Time": True},
                    "indexByName": order,
                    "renameByName": dict(zip(values, (column.name for column in columns), strict=True)),
                },
            )
        )
    )
    for value, column in zip(values, columns, strict=True):
        panel.with_target(
            Dataquery()
            .ref_id(value[-1])
            .expr(column.expr)
            .instant()
            .format(PromQueryFormat.TABLE)
            .datasource(SOURCE)
        )
        panel.override_by_name(column.name, _look(column))
    return panel


def _look(column: Column) -> list[DynamicConfigValue]:
    look = [DynamicConfigValue("unit", column.unit)]
    if column.limits:
        look += [
            DynamicConfigValue("thresholds", column.limits.build().build().to_json()),
            DynamicConfigValue("custom.cellOptions", {"type": "color-background", "mode": "basic"}),
        ]
    return look
