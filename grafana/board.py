"""What every dashboard has alike: its frame, the variables that choose, the way to the others, ids that stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grafana_foundation_sdk.builders import stat, table, text, timeseries
from grafana_foundation_sdk.builders.dashboard import (
    CustomVariable,
    Dashboard,
    DashboardLink,
    DatasourceVariable,
    QueryVariable,
    Row,
    TimePicker,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from links import INCIDENTS, way_to
from panels import SOURCE

TAG = "jiezhu"
CHOICES = (("track", "Track", "track"), ("release", "Release", "release"), ("language", "Language", "lang"))


Panel = stat.Panel | table.Panel | text.Panel | timeseries.Panel


class Board:
    """A dashboard in the making.

    Panels are given their ids by hand. Links from alerts, runbooks and people's bookmarks hold these numbers: a panel
    keeps its own when it moves, and the number of one that is gone is not given again.
    """

    def __init__(self, name: str, title: str, description: str, *, start: str, refresh: str = "30s") -> None:
        self._board = (
            Dashboard(f"jiezhu · {title}")
            .uid(f"jiezhu-{name}")
            .description(description)
            .tags([TAG])
            .editable()
            .timezone("browser")
            .tooltip(DashboardCursorSync.CROSSHAIR)
            .refresh(refresh)
            .time(start, "now")
            .timepicker(TimePicker().refresh_intervals(["5s", "10s", "30s", "1m", "5m"]))
            .link(
                DashboardLink("jiezhu")
                .type(DashboardLinkType.DASHBOARDS)
                .tags([TAG])
                .include_vars(True)
                .keep_time(True)
            )
            .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
        )
        for variable, label, metric_label in CHOICES:
            self.choice(variable, label, f"label_values(jiezhu_turns_total, {metric_label})")

    def choice(self, name: str, label: str, query: str) -> None:
        """Offer what the labels of a series hold; all of it by default."""
        self._board.with_variable(
            QueryVariable(name)
            .label(label)
            .datasource(SOURCE)
            .query(query)
            .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
            .sort(VariableSort.ALPHABETICAL_ASC)
            .multi(True)
            .include_all(True)
            .all_value(".*")
            .current(VariableOption(selected=True, text="All", value="$__all"))
        )

    def words(self, name: str, label: str, values: Sequence[str]) -> None:
        """Offer ``values``, one at a time; the first by default."""
        options = [VariableOption(selected=one == values[0], text=one, value=one) for one in values]
        self._board.with_variable(
            CustomVariable(name).label(label).values(", ".join(values)).options(options).current(options[0])
        )

    def row(self, number: int, title: str) -> None:
        self._board.with_row(Row(title).id(number))

    def add(self, number: int, panel: Panel, *, incidents: bool = False) -> None:
        """Put the panel ``number`` in; ``incidents``: one goes from here to the people behind the figure."""
        panel.id(number)
        if incidents:
            panel.links([way_to(INCIDENTS, "The incidents behind this")])
        self._board.with_panel(panel)

    def build(self) -> Any:
        return self._board.build()
