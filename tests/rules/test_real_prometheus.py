"""The shipped rules on a real Prometheus."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from itertools import count, product
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge

from monitor.demo.ports import free_port
from monitor.metrics import Metrics
from tests.rules.shipped import alerts, rules
from tests.support import exporter
from tests.support.prometheus import RULES, Prometheus, needs, running, until
from tests.support.published import published

# Values of labels of what an elected worker shows, two wherever rules compare.
VALUES = {
    "rate": ("safety_miss", "emotion_named"),
    "track": ("production", "canary"),
    "release": ("r1", "r2"),
    "lang": ("all", "zh"),
    "level": ("all", "plan_intent"),
    "basis": ("live", "probe"),
    "scale": ("a",),
    "dimension": ("empathy",),
    "against": ("stable", "past"),
    "feature": ("advice_density", "validation"),
    "verdict": ("not_enough", "drifted"),
    "group": ("current", "reference"),
    "cohort": ("terse", "open"),
    "quantile": ("0.5", "0.99"),
}


@needs("promtool")
def test_rules_and_configuration_are_valid() -> None:
    files = [str(path) for path in sorted(RULES.glob("*.yml"))]
    for command in (["rules", *files], ["config", "--syntax-only", str(RULES.parent / "prometheus.yml")]):
        done = subprocess.run(
            ["promtool", "check", *command], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@needs("prometheus")
def test_first_miss_fires_however_it_becomes_visible_and_the_heartbeat_stops_with_the_last_worker(
    tmp_path: Path,
) -> None:
    """R45. The first count of all rings, that of a process which nobody saw before it, too."""
    steady, late = Metrics(), Metrics()
    steady.ready.set(1)
    with ExitStack() as workers:
        one = workers.enter_context(exporter.serving(steady))
        port = free_port()
        with running(tmp_path, one, f"127.0.0.1:{port}") as prometheus:
            until("heartbeat", lambda: prometheus.firing("JiezhuDeadMansSwitch"))
            until("counters born at 0", lambda: prometheus.query("jiezhu_safety_misses_total == 0"))
            assert prometheus.firing("JiezhuCrisisMissed") is None

            steady.misses.labels("unhandled", "plan_intent", "canary", "live").inc()
            fired = until("first miss", lambda: prometheus.firing("JiezhuCrisisMissed", outcome="unhandled"))
            assert fired["labels"]["track"] == "canary"
            assert fired["annotations"]["runbook_url"] == "deploy/runbooks/JiezhuCrisisMissed.md"

            late.misses.labels("no_reply", "in_progress", "production", "live").inc()
            workers.enter_context(exporter.serving(late, port))
            until(
                "miss of a process never seen without it",
                lambda: prometheus.firing("JiezhuCrisisMissed", outcome="no_reply"),
            )

            workers.close()
            until("heartbeat stopped", lambda: not prometheus.firing("JiezhuDeadMansSwitch"))


@needs("prometheus")
def test_all_rules_load_and_run_and_records_have_the_labels_of_their_name(tmp_path: Path) -> None:
    """Series that do not match one to one are an error that only a running server finds."""
    one, other = Metrics(), Metrics()
    for metrics in (one, other):
        exporter.bear(metrics)
        exporter.fill(metrics, 0)
    with ExitStack() as workers:
        targets = [workers.enter_context(exporter.serving(metrics)) for metrics in (one, other)]
        targets.append(workers.enter_context(exporter.serving(_elected())))
        with running(tmp_path, *targets) as prometheus:
            beats = count(1)

            def recorded() -> bool:
                beat = next(beats)
                for metrics in (one, other):
                    exporter.fill(metrics, beat)
                return all(prometheus.query(rule["record"]) for rule in rules("record"))

            until("each record has series", recorded, seconds=30)
            until("all rules evaluated", lambda: _evaluated(prometheus))
            loaded = prometheus.rules()
            assert {rule["name"] for rule in loaded} == {
                *(alert["alert"] for alert in alerts()),
                *(rule["record"] for rule in rules("record")),
            }
            assert {
                (rule["name"], rule.get("lastError")) for rule in loaded if rule["health"] != "ok"
            } == set()
            for rule in rules("record"):
                labels = set(rule["record"].split(":")[0].split("_"))
                for sample in prometheus.query(rule["record"]):
                    assert set(sample["metric"]) - {"__name__", "job"} <= labels, rule["record"]


@needs("prometheus")
def test_fresh_workers_with_nothing_to_do_trouble_nobody(tmp_path: Path) -> None:
    """Nothing may even be pending but the silence itself."""
    metrics = Metrics()
    metrics.ready.set(1)
    exporter.bear(metrics)
    with exporter.serving(metrics) as worker, running(tmp_path, worker) as prometheus:
        until("heartbeat", lambda: prometheus.firing("JiezhuDeadMansSwitch"))
        rounds = 'count_over_time(ALERTS{alertname="JiezhuDeadMansSwitch", alertstate="firing"}[1m]) >= 6'
        until("rules evaluated again and again", lambda: _evaluated(prometheus) and prometheus.query(rounds))
        noticed = {alert["labels"]["alertname"] for alert in prometheus.alerts()}
        assert noticed == {"JiezhuDeadMansSwitch", "JiezhuNoTurns"}


def _evaluated(prometheus: Prometheus) -> bool:
    return all(rule["health"] != "unknown" for rule in prometheus.rules())


def _figure(name: str, *, on_trial: bool) -> float:
    """Worse on trial, so that comparisons find pairs: those that do not fit together are an error only then."""
    if name.endswith(("_denominator", "_sample_size")):
        return 1000
    return 500 if on_trial else 5


def _elected() -> CollectorRegistry:
    """What a worker shows that publishes the figures of all."""
    registry = CollectorRegistry()
    for name, labels in published().items():
        metric = Gauge(name, "Of all workers", labels, registry=registry)
        for values in product(*(VALUES[label] for label in labels)):
            child = metric.labels(*values) if values else metric
            child.inc(_figure(name, on_trial="canary" in values))
    return registry
