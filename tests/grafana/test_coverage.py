"""Nothing is measured in vain, nothing is asked for that is not measured, and no alert leaves its reader alone."""

from __future__ import annotations

import re
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from monitor.metrics import Metrics
from tests.grafana.support import made_up
from tests.grafana.support.boards import DASHBOARDS, load, panel_queries, panels, rules
from tests.support.published import published

# What no panel and no rule shows, and why.
EXPLORE_ONLY: dict[str, str] = {}
# Of others: Prometheus' own, Alertmanager's, the client library's.
OF_OTHERS = {
    "up",
    "ALERTS",
    "alertmanager_silences",
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
}


def measured() -> dict[str, set[str]]:
    """Return each family of ours with the names that it is asked for by."""
    metrics = Metrics()
    made_up.Releases(metrics.registry)
    served = generate_latest(metrics.registry).decode()
    families = re.findall(r"^# TYPE (jiezhu_\w+) (\w+)$", served, re.MULTILINE)
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    return {
        name: {name, *(f"{name}{part}" for part in parts.get(kind, ()))}
        for name, kind in families
        if not name.endswith("_created")
    }


def expressions() -> list[str]:
    return [expr for _, expr in panel_queries()] + [r["expr"] for r in rules("record") + rules("alert")]


def test_every_metric_is_used_or_listed_with_a_reason() -> None:
    asked = {name for expr in expressions() for name in re.findall(r"(?<![\w:])jiezhu_\w+", expr)}
    known = set().union(*measured().values())
    created = {name.replace("_total", "_created") for name in known}
    assert asked <= known | created, asked - known
    unused = {family for family, names in measured().items() if not names & asked}
    assert unused == set(EXPLORE_ONLY)
    assert all(len(reason) > 20 for reason in EXPLORE_ONLY.values())


def test_made_up_figures_have_the_names_and_labels_of_those_that_are_published() -> None:
    registry = CollectorRegistry()
    made_up.Releases(registry)
    shown = {family.name: family for family in registry.collect()}
    assert set(shown) == set(published())
    for name, labels in published().items():
        assert registry._names_to_collectors[name]._labelnames == labels, name


def test_metrics_of_others_are_few_and_known() -> None:
    """Names of series stand before ``{``, ``[`` or a bracket that closes; functions and labels do not."""
    for where, expr in panel_queries():
        bare = re.sub(r"\b(by|on|group_left|without) \([^)]*\)|\{[^}]*\}|\$\w+|\[[^]]*\]", " ", expr)
        names = set(re.findall(r"(?<![\w:.])[a-zA-Z_][\w:]*(?!\w|\s*\()", bare))
        words = {"or", "and", "unless", "offset", "on", "by", "group_left"}
        ours = {name for name in names if "jiezhu_" in name}
        assert names - ours - words <= OF_OTHERS, where


def test_every_recorded_series_that_is_asked_for_is_recorded() -> None:
    asked = {name for expr in expressions() for name in re.findall(r"\w+:jiezhu_\w+:\w+", expr)}
    assert asked <= {rule["record"] for rule in rules("record")}


def test_every_alert_has_a_panel_where_one_looks(alert_panels: dict[str, Any]) -> None:
    alerts = {rule["alert"] for rule in rules("alert")}
    assert alerts <= set(alert_panels), alerts - set(alert_panels)
    assert set(alert_panels) <= alerts, "a panel for an alert that there is not"
    there = {(load(path)["uid"], panel["id"]) for path in DASHBOARDS for panel in panels(load(path))}
    for alert, place in alert_panels.items():
        assert (place["uid"], place["panel"]) in there, alert
        path = f"/d/{place['uid']}?viewPanel={place['panel']}"
        assert place["dashboard_url"].startswith("{{ $externalLabels.dashboard_base }}" + path)


def test_panel_of_an_alert_shows_what_the_alert_watches(alert_panels: dict[str, Any]) -> None:
    """They share a series, be it by way of a recorded one. ``up`` tells of workers that answer nothing themselves."""
    recorded = {rule["record"]: rule["expr"] for rule in rules("record")}

    def series(expr: str) -> set[str]:
        names = set(
            re.findall(r"(?<![\w:])(?:\w+:)?(?:jiezhu_\w+|alertmanager_silences|up\b)(?::\w+)?", expr)
        )
        deeper = [series(recorded[name]) for name in names if name in recorded]
        return {re.sub(r"_(total|bucket|sum|count|created)$", "", name) for name in names.union(*deeper)}

    shown: dict[tuple[str, int], set[str]] = {}
    for path in DASHBOARDS:
        for panel in panels(load(path)):
            asked = " ".join(target["expr"] for target in panel.get("targets", ()))
            shown[load(path)["uid"], panel["id"]] = series(asked)
    for rule in rules("alert"):
        place = alert_panels[rule["alert"]]
        assert series(rule["expr"]) & shown[place["uid"], place["panel"]], rule["alert"]


def test_address_of_a_panel_chooses_by_what_the_dashboard_offers(alert_panels: dict[str, Any]) -> None:
    offered = {
        load(path)["uid"]: {one["name"] for one in load(path)["templating"]["list"]} for path in DASHBOARDS
    }
    for alert, place in alert_panels.items():
        assert set(re.findall(r"&var-(\w+)=", place["dashboard_url"])) <= offered[place["uid"]], alert
