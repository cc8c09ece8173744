"""The dashboards as they are committed: built anew without a difference, every query run with data."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from scipy.stats import binomtest

from monitor.metrics import Metrics
from tests.support import exporter
from tests.support.prometheus import RULES, Prometheus, needs, running, until

# One Prometheus for all of them, also when tests run on several workers.
pytestmark = pytest.mark.xdist_group("dashboards")

GRAFANA = Path(__file__).parents[2] / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))

# What no panel and no rule shows yet; it is there to be looked at by hand.
EXPLORE_ONLY = {
    "jiezhu_build",
    "jiezhu_emotion_points",
    "jiezhu_fenced_batches",
    "jiezhu_page_admissions",
    "jiezhu_reply_flags",
    "jiezhu_reply_latency_seconds",
    "jiezhu_reply_repeats",
    "jiezhu_scale_score",
}
# What Grafana puts in for its variables; short, because the test's Prometheus is young.
VARIABLES = {
    "$__rate_interval": "10s",
    "$__interval": "10s",
    "$__range": "60s",
    "$track": ".*",
    "$release": ".*",
    "$language": ".*",
}


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def panel_queries() -> list[tuple[str, str]]:
    return [
        (f"{path.stem}: {panel['title']} {target['refId']}", target["expr"])
        for path in DASHBOARDS
        for panel in panels(load(path))
        for target in panel["targets"]
    ]


def rules(kind: str) -> list[dict[str, Any]]:
    groups = [
        group
        for path in sorted(RULES.glob("*.yml"))
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    ]
    return [rule for group in groups for rule in group["rules"] if kind in rule]


def filled_in(expr: str) -> str:
    for name, value in VARIABLES.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, f"a variable that is not known: {expr}"
    return expr


def test_committed_json_is_what_the_code_builds(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(GRAFANA / "build.py"), str(tmp_path)], check=True, timeout=60)
    assert {path.name for path in DASHBOARDS} == {path.name for path in tmp_path.iterdir()}
    for path in DASHBOARDS:
        assert path.read_text(encoding="utf-8") == (tmp_path / path.name).read_text(encoding="utf-8"), (
            f"{path.name} differs: run python grafana/build.py"
        )


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has watched a worker at work for some seconds."""
    metrics, stop = Metrics(), threading.Event()
    exporter.bear(metrics)

    def work() -> None:
        beat = 0
        while not stop.wait(0.1):
            exporter.fill(metrics, beat)
            beat += 1

    worker = threading.Thread(target=work)
    with (
        exporter.serving(metrics) as target,
        running(tmp_path_factory.mktemp("prometheus"), target) as started,
    ):
        until("the first scrape", lambda: started.query("jiezhu_line_stopped"))
        worker.start()
        try:
            # The last in the chain of what depends on what: then all the rest is there too.
            until(
                "records of the rules",
                lambda: (
                    started.query(
                        "track_release_lang_basis:jiezhu_crisis_misses:ratio_upper95_increase1h > 0"
                    )
                    and started.query("pager_state:jiezhu_pages:new5m > 0")
                ),
            )
            yield started
        finally:
            stop.set()
            worker.join()


@needs("prometheus")
@pytest.mark.parametrize(("where", "expr"), panel_queries(), ids=[where for where, _ in panel_queries()])
def test_panel_query_returns_data(prometheus: Prometheus, where: str, expr: str) -> None:
    until(f"data for {where}", lambda: numbers(prometheus, filled_in(expr)))


@needs("prometheus")
@pytest.mark.parametrize("rule", rules("record"), ids=lambda rule: rule["record"])
def test_recorded_series_has_data(prometheus: Prometheus, rule: dict[str, Any]) -> None:
    until(rule["record"], lambda: numbers(prometheus, rule["record"]))


@needs("prometheus")
@pytest.mark.parametrize("rule", rules("alert"), ids=lambda rule: rule["alert"])
def test_alert_expression_can_be_asked(prometheus: Prometheus, rule: dict[str, Any]) -> None:
    prometheus.query(rule["expr"])


@needs("prometheus")
def test_variables_offer_what_there_is(prometheus: Prometheus) -> None:
    offered = {}
    for variable in load(DASHBOARDS[0])["templating"]["list"]:
        if variable["type"] == "query":
            series, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
            offered[variable["name"]] = prometheus.label_values(label, series)
    assert offered == {"track": ["production"], "release": list(exporter.RELEASES), "language": ["zh"]}


@needs("prometheus")
def test_upper_bound_of_the_share_is_wilsons(prometheus: Prometheus) -> None:
    """Constants stand in the place of the counts, so the formula alone is tested."""
    expr = next(expr for where, expr in panel_queries() if "Upper bound of the share A" in where)
    shown = dict(panel_queries())
    k, n = (next(e for w, e in shown.items() if w.endswith(f"{name} A")) for name in ("Misses", "judged (n)"))
    formula = expr.replace(k, "K").replace(n, "N")
    assert re.fullmatch(r"[KN0-9.+*/()> sqrt-]+", formula), formula
    for misses, judged in ((0, 412), (1, 100), (5, 5)):
        upper = binomtest(misses, judged).proportion_ci(method="wilson").high
        [sample] = prometheus.query(
            formula.replace("K", f"vector({misses})").replace("N", f"vector({judged})")
        )
        assert float(sample["value"][1]) == pytest.approx(upper, abs=1e-5)


def test_every_metric_that_is_asked_for_exists_and_every_other_is_listed() -> None:
    served = generate_latest(Metrics().registry).decode()
    families = set(re.findall(r"^# TYPE (\w+) \w+$", served, re.MULTILINE))
    exposed = families | {
        f"{name}_{part}"
        for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", served, re.MULTILINE)
        if kind == "histogram"
        for part in ("bucket", "sum", "count")
    }
    known = {name for name in exposed if name.startswith("jiezhu_")}
    exprs = [expr for _, expr in panel_queries()] + [r["expr"] for r in rules("record") + rules("alert")]
    asked = {name for expr in exprs for name in re.findall(r"(?<![\w:])jiezhu_\w+", expr)}
    assert asked <= known, asked - known

    def bare(name: str) -> str:
        return re.sub(r"_(total|created|info|bucket|sum|count)$", "", name)

    assert {bare(name) for name in known} - {bare(name) for name in asked} == EXPLORE_ONLY


def test_every_recorded_series_that_is_asked_for_is_recorded() -> None:
    exprs = [expr for _, expr in panel_queries()] + [r["expr"] for r in rules("record") + rules("alert")]
    asked = {name for expr in exprs for name in re.findall(r"\w+:jiezhu_\w+:\w+", expr)}
    assert asked <= {rule["record"] for rule in rules("record")}


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_says_what_it_shows_in_which_unit(path: Path) -> None:
    dashboard = load(path)
    for panel in panels(dashboard):
        assert len(panel["description"]) > 30, panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        if panel["type"] != "table":
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
    assert len({panel["title"] for panel in panels(dashboard)} | {"Oldest notification"}) >= 15
    spots = [tuple(panel["gridPos"][side] for side in "xywh") for panel in dashboard["panels"]]
    assert len({spot[:2] for spot in spots}) == len(spots), "panels on top of each other"
    assert all(x + w <= 24 for x, _, w, _ in spots)


def test_files_that_grafana_reads_at_start_fit_together() -> None:
    provisioning = GRAFANA / "provisioning"
    source = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text(encoding="utf-8"))
    provider = yaml.safe_load((provisioning / "dashboards" / "jiezhu.yaml").read_text(encoding="utf-8"))
    config = yaml.safe_load((RULES.parent / "prometheus.yml").read_text(encoding="utf-8"))
    assert source["datasources"][0]["jsonData"]["timeInterval"] == config["global"]["scrape_interval"]
    compose = yaml.safe_load((GRAFANA.parent / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    mounts = dict(volume.split(":")[:2] for volume in compose["services"]["grafana"]["volumes"])
    assert mounts["../grafana/dashboards"] == provider["providers"][0]["options"]["path"]


def numbers(prometheus: Prometheus, expr: str) -> list[float]:
    return [value for sample in prometheus.query(expr) if not math.isnan(value := float(sample["value"][1]))]
