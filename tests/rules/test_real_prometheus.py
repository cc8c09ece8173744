"""The shipped rules on a real Prometheus."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

from monitor.metrics import Metrics
from tests.support import exporter
from tests.support.prometheus import RULES, free_port, needs, running, until


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
