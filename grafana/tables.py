"""Tables and texts, with one look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import table, text
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models.dashboard import DataTransformerConfig, DynamicConfigValue
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.text import TextMode
from panels import EMPTY, NO_LIMITS, SOURCE, Limits, Words, mapping


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: ``expr`` gives one value a row, or the one of ``words`` that it stands for."""

    name: str
    expr: str
    unit: str = "short"
    limits: Limits | None = None
    words: Words | None = None
    decimals: int | None = None


def grid(
    title: str,
    description: str,
    rows: Sequence[str],
    columns: Sequence[Column],
    *,
    width: int = 24,
    height: int = 8,
) -> table.Panel:
    """Draw a table: one row for each set of the labels ``rows``, one column a query."""
    values = [f"Value #{chr(ord('A') + number)}" for number in range(len(columns))]
    if len(columns) == 1:  # as Grafana names the value of a single query
        values = ["Value"]
    order = {name: place for place, name in enumerate((*rows, *values))}
    panel = (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit("short")
        .no_value(EMPTY)
        .thresholds(NO_LIMITS)
        .span(width)
        .height(height)
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
    for number, column in enumerate(columns):
        panel.with_target(
            Dataquery()
            .ref_id(chr(ord("A") + number))
            .expr(column.expr)
            .instant()
            .format(PromQueryFormat.TABLE)
            .datasource(SOURCE)
        )
        panel.override_by_name(column.name, _look(column))
    return panel


def note(title: str, description: str, content: str, *, width: int = 24, height: int = 6) -> text.Panel:
    """Words of ours that stand beside the figures, in Markdown."""
    return (
        text.Panel()
        .title(title)
        .description(description)
        .mode(TextMode.MARKDOWN)
        .content(content)
        .span(width)
        .height(height)
    )


def _look(column: Column) -> list[DynamicConfigValue]:
    look = [DynamicConfigValue("unit", column.unit)]
    if column.decimals is not None:
        look.append(DynamicConfigValue("decimals", column.decimals))
    if column.limits:
        look.append(DynamicConfigValue("thresholds", column.limits.build().build().to_json()))
    if column.words:
        look.append(DynamicConfigValue("mappings", [mapping(column.words).to_json()]))
    if column.limits or column.words:
        look.append(DynamicConfigValue("custom.cellOptions", {"type": "color-background", "mode": "basic"}))
    return look
