"""The dashboards as they are committed, read from their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.prometheus import RULES

GRAFANA = Path(__file__).parents[3] / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
CHOICES = {"track", "release", "language"}

# What Grafana puts in for its variables. Windows are short where the test's Prometheus is young and its worker at work.
CHOSEN = {
    "$track": ".*",
    "$release": ".*",
    "$language": ".*",
    "$basis": "live",
    "$pager": ".*",
    "$worker": ".*",
}
YOUNG = {"$__rate_interval": "10s", "$__interval": "10s", "$__range": "60s", **CHOSEN}


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return those that show something: rows are headings."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def panel_queries() -> list[tuple[str, str]]:
    """Return where each query stands, and the query."""
    return [
        (f"{path.stem} {panel['id']} {panel['title']} {target['refId']}", target["expr"])
        for path in DASHBOARDS
        for panel in panels(load(path))
        for target in panel.get("targets", ())
    ]


def query_of(board: str, panel: int, target: str = "A") -> str:
    [expr] = [
        expr
        for where, expr in panel_queries()
        if where.startswith(f"{board} {panel} ") and where.endswith(f" {target}")
    ]
    return expr


def rules(kind: str) -> list[dict[str, Any]]:
    """Return the rules that ship: ``alert`` or ``record``."""
    groups = [
        group
        for path in sorted(RULES.glob("*.yml"))
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    ]
    return [rule for group in groups for rule in group["rules"] if kind in rule]


def filled_in(expr: str, values: Mapping[str, str] = YOUNG) -> str:
    for name, value in values.items():
        expr = re.sub(rf"{re.escape(name)}\b", value, expr)
    assert "$" not in expr, f"a variable that is not known: {expr}"
    return expr
