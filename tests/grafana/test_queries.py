"""Every query on a real Prometheus: beside a worker at work that touches every metric, and beside the demonstration."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from scipy.stats import binomtest

from monitor.metrics import Metrics
from tests.grafana.support import agreed_metrics, recording
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
from tests.support.prometheus import Prometheus, needs, running, until

# One Prometheus for all of them, also when tests run on several workers.
pytestmark = [pytest.mark.xdist_group("dashboards"), needs("prometheus")]

SPEED = 2.0  # a frame a scrape
PLAYED = {"$__rate_interval": "5m", "$__interval": "5m", "$__range": "5m", **CHOSEN}
every_query = pytest.mark.parametrize(
    ("where", "expr"), panel_queries(), ids=[where for where, _ in panel_queries()]
)


@pytest.fixture(scope="module")
def alertmanager() -> Iterator[str]:
    with recording.serving(lambda: 'alertmanager_alerts{state="suppressed"} 0\n') as target:
        yield target


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory, alertmanager: str) -> Iterator[Prometheus]:
    """A Prometheus that has watched a worker at work for some seconds."""
    metrics, stop = Metrics(), threading.Event()
    exporter.bear(metrics)
    agreed = agreed_metrics.Agreed(metrics.registry)

    def work() -> None:
        beat = 0
        while not stop.wait(0.1):
            exporter.fill(metrics, beat)
            fill(metrics)
            agreed.show(beat)
            beat += 1

    worker = threading.Thread(target=work)
    with (
        exporter.serving(metrics) as target,
        running(
            tmp_path_factory.mktemp("prometheus"), target, apart={"alertmanager": alertmanager}
        ) as started,
    ):
        until("the first scrape", lambda: started.query("jiezhu_line_stopped"))
        worker.start()
        try:
            _wait_for_records(started)
            yield started
        finally:
            stop.set()
            worker.join()


def fill(metrics: Metrics) -> None:
    """What the exporter of the rules leaves out, as no rule asks for it."""
    for part in ("source", "detector"):
        metrics.last_progress.labels(part).set(0)
    for scale, dimension in (("A", "empathy"), ("B", "warmth")):
        metrics.scale_score.labels(scale, dimension, "production", exporter.RELEASES[0]).observe(3)
    for result in ("new", "repeated"):
        metrics.repeated_replies.labels(result, "production", exporter.RELEASES[0]).inc()
    metrics.reply_flags.labels("lecture", "production", exporter.RELEASES[0], "live").inc()
    metrics.page_admissions.labels("carried").inc()
    metrics.scorer_failures.inc()


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory, alertmanager: str) -> Iterator[Prometheus]:
    """A Prometheus beside the two workers of the demonstration, from its first turn to its last page."""
    with ExitStack() as stack:
        workers = stack.enter_context(recording.playing(SPEED, agreed_metrics.text()))
        folder = tmp_path_factory.mktemp("demonstration")
        started = stack.enter_context(running(folder, *workers, apart={"alertmanager": alertmanager}))
        ended = [_canaries(worker[-1]) for worker in recording.frames()]
        until(
            "the last canary of the demonstration",
            lambda: _total(started, "sum(jiezhu_canaries_total)") == sum(ended),
            60,
        )
        _wait_for_records(started)
        yield started


def _canaries(text: str) -> float:
    ours = (line for line in text.splitlines() if line.startswith("jiezhu_canaries_total{"))
    return sum(float(line.rsplit(" ", 1)[1]) for line in ours)


def _total(prometheus: Prometheus, expr: str) -> float | None:
    return next(iter(numbers(prometheus, expr)), None)


def _wait_for_records(prometheus: Prometheus) -> None:
    """The last in the chain of what depends on what: then all the rest is there too."""
    bound = "track_release_lang_basis:jiezhu_crisis_misses:ratio_upper95_increase1h > 0"
    until(
        "records of the rules",
        lambda: (
            prometheus.query(bound)
            and prometheus.query("pager_state:jiezhu_pages:new5m > 0")
            and prometheus.query('ALERTS{alertname="JiezhuDeadMansSwitch"}')
        ),
        30,
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
