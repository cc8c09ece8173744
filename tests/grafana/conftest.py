"""A real Prometheus beside a worker at work, and one beside the demonstration: they go when these tests are done."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from monitor.metrics import Metrics
from tests.grafana.support import made_up, recording
from tests.grafana.support.boards import GRAFANA
from tests.support import exporter
from tests.support.prometheus import Prometheus, running, until

SPEED = 1.5  # a frame lasts a second; no turn and its verdict lie in one


@pytest.fixture(scope="package")
def alertmanager() -> Iterator[str]:
    with recording.serving(lambda: 'alertmanager_silences{state="active"} 0\n') as target:
        yield target


@pytest.fixture(scope="package")
def prometheus(tmp_path_factory: pytest.TempPathFactory, alertmanager: str) -> Iterator[Prometheus]:
    """A Prometheus that has watched a worker at work for some seconds."""
    metrics, stop = Metrics(), threading.Event()
    exporter.bear(metrics)
    releases = made_up.Releases(metrics.registry)

    def work() -> None:
        beat = 0
        while not stop.wait(0.1):
            exporter.fill(metrics, beat)
            fill(metrics)
            releases.show(beat)
            for who in (made_up.PRODUCTION, made_up.CANARY):
                made_up.count(metrics, who, beat)
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


@pytest.fixture(scope="package")
def demonstration(tmp_path_factory: pytest.TempPathFactory, alertmanager: str) -> Iterator[Prometheus]:
    """A Prometheus beside the two workers of the demonstration, from its first turn to its last page."""
    with ExitStack() as stack:
        workers = stack.enter_context(recording.playing(SPEED, made_up.text()))
        folder = tmp_path_factory.mktemp("demonstration")
        started = stack.enter_context(
            running(folder, *workers, apart={"alertmanager": alertmanager}, every=1)
        )
        canaries = recording.total("jiezhu_canaries_total")
        until(
            "the last canary of the demonstration",
            lambda: started.query(f"sum(jiezhu_canaries_total) == {canaries}"),
            60,
        )
        _wait_for_records(started)
        yield started


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


@pytest.fixture(scope="session")
def alert_panels() -> dict[str, Any]:
    """At which panel one looks when an alert fires, as the code of the dashboards says it."""
    script = [sys.executable, str(GRAFANA / "alert_panels.py")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)
