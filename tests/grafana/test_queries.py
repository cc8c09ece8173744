"""Every query on a real Prometheus: beside a worker at work that touches every metric, and beside the demonstration."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from typing import Any

import pytest
from scipy.stats import binomtest

from tests.grafana.support.boards import (
    CHOSEN,
    DASHBOARDS,
    YOUNG,
    filled_in,
    load,
    panel_queries,
    query_of,
    rules,
)
from tests.support import exporter
from tests.support.prometheus import Prometheus, needs, until

# One Prometheus for all of them, also when tests run on several workers.
pytestmark = [pytest.mark.xdist_group("dashboards"), needs("prometheus")]

PLAYED = {"$__rate_interval": "5m", "$__interval": "5m", "$__range": "5m", **CHOSEN}
every_query = pytest.mark.parametrize(
    ("where", "expr"), panel_queries(), ids=[where for where, _ in panel_queries()]
)


@every_query
def test_panel_query_returns_data(prometheus: Prometheus, where: str, expr: str) -> None:
    _has_data(prometheus, where, filled_in(expr, YOUNG))


@every_query
def test_panel_query_returns_data_of_the_demonstration(
    demonstration: Prometheus, where: str, expr: str
) -> None:
    _has_data(demonstration, where, filled_in(expr, PLAYED))


def _has_data(prometheus: Prometheus, where: str, expr: str) -> None:
    until(f"data for {where}", lambda: numbers(prometheus, expr))
    until(f"data over time for {where}", lambda: over_time(prometheus, expr))


@pytest.mark.parametrize("rule", rules("record"), ids=lambda rule: rule["record"])
def test_recorded_series_has_data(prometheus: Prometheus, rule: dict[str, Any]) -> None:
    until(rule["record"], lambda: numbers(prometheus, rule["record"]))


@pytest.mark.parametrize("rule", rules("alert"), ids=lambda rule: rule["alert"])
def test_alert_expression_can_be_asked(prometheus: Prometheus, rule: dict[str, Any]) -> None:
    prometheus.query(rule["expr"])


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_variables_offer_what_there_is(prometheus: Prometheus, path: Any) -> None:
    offered = {}
    for variable in load(path)["templating"]["list"]:
        if variable["type"] == "query":
            series, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
            offered[variable["name"]] = prometheus.label_values(label, series)
    choices = {"track": ["production"], "release": list(exporter.RELEASES), "language": ["zh"]}
    assert choices.items() <= offered.items()
    assert all(offered.values())


def test_upper_bound_of_the_share_is_wilsons(prometheus: Prometheus) -> None:
    """Constants stand in the place of the counts, so the formula alone is tested."""
    misses, judged = (query_of("live-safety", number) for number in (11, 12))
    formula = query_of("live-safety", 14).replace(misses, "K").replace(judged, "N")
    _is_wilsons(prometheus, formula, "high")


@pytest.mark.parametrize(("target", "end"), [("B", "low"), ("C", "high")])
def test_interval_of_added_up_releases_is_wilsons(prometheus: Prometheus, target: str, end: str) -> None:
    k, n = (query_of("support-quality", 17, letter) for letter in "DE")
    _is_wilsons(prometheus, query_of("support-quality", 17, target).replace(k, "K").replace(n, "N"), end)


def _is_wilsons(prometheus: Prometheus, formula: str, end: str) -> None:
    assert re.fullmatch(r"(clamp_min)?[KN0-9.+*/()>, sqrt-]+", formula), formula
    for k, n in ((0, 412), (1, 100), (5, 5)):
        true = getattr(binomtest(k, n).proportion_ci(method="wilson"), end)
        [sample] = prometheus.query(formula.replace("K", f"vector({k})").replace("N", f"vector({n})"))
        assert float(sample["value"][1]) == pytest.approx(true, abs=1e-5)


def numbers(prometheus: Prometheus, expr: str) -> list[float]:
    return [value for sample in prometheus.query(expr) if not math.isnan(value := float(sample["value"][1]))]


def over_time(prometheus: Prometheus, expr: str) -> list[float]:
    """Return the values of the last seconds, as a panel with lines asks for them."""
    now = time.time()
    asked: Mapping[str, Any] = {"query": expr, "start": now - 20, "end": now, "step": 1}
    answer = prometheus.client.get("/api/v1/query_range", params=asked).json()
    assert answer["status"] == "success", f"{answer.get('error')}: {expr}"
    values = [float(value) for line in answer["data"]["result"] for _, value in line["values"]]
    return [value for value in values if not math.isnan(value)]
