"""A worker's /metrics with something in every family: the real registry, served on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server

from alerts.delivery import State as DeliveryState
from alerts.incident import State as IncidentState
from detectors.finding import CRISIS_LEVELS, VERDICTS
from monitor.metrics import Metrics

RELEASES = ("4.1.0", "4.2.0-rc1")


@contextmanager
def serving(metrics: Metrics | CollectorRegistry, port: int = 0) -> Iterator[str]:
    """Serve ``metrics`` and yield ``host:port``."""
    registry = metrics.registry if isinstance(metrics, Metrics) else metrics
    server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def bear(metrics: Metrics) -> None:
    """What a worker shows once it has read its first turns."""
    metrics.build.info({"version": "0", "detectors": "0"})
    for release in RELEASES:
        metrics.bear("production", metrics.release("production", release), "zh", "live")


def fill(metrics: Metrics, beat: int) -> None:
    """One round of work that touches every metric."""
    release = metrics.release("production", RELEASES[beat % 2])
    who = ("production", release, "zh", "live")
    for role in ("user", "assistant"):
        metrics.turns.labels(role, *who).inc(3)
        metrics.turns_read.labels(*who[::3]).inc(3)
    metrics.crisis_turns.labels(CRISIS_LEVELS[beat % len(CRISIS_LEVELS)].value, *who).inc()
    outcome = VERDICTS[0] if beat % 4 else VERDICTS[beat // 4 % len(VERDICTS)]
    metrics.outcomes.labels(outcome.value, *who).inc()
    if beat % 8 == 0:
        metrics.misses.labels("unhandled", "plan_intent", "production", "live").inc()
    metrics.unscored_turns.labels("other").inc()
    metrics.reply_flags.labels("echo", "production", release, "live").inc()
    metrics.emotion_points.labels("named", *who).inc()
    metrics.scale_score.labels("A", "warmth", "production", release).observe(3)
    metrics.reply_latency.labels("production", release).observe(1.2)
    metrics.incidents.labels("unhandled", list(IncidentState)[beat % len(IncidentState)].value).inc()
    metrics.pages.labels("webhook", list(DeliveryState)[beat % len(DeliveryState)].value, "http_200").inc()
    metrics.detect_to_page.observe(0.1 + beat % 5 / 10)
    metrics.outbox_oldest.set(beat % 3)
    metrics.deadline_delay.observe(0.02)
    for partition in ("0", "1"):
        metrics.source_lag.labels(partition).set(beat % 7)
    metrics.event_age.observe(0.3 + beat % 4 / 10)
    metrics.dead_letters.labels("not_json").inc(beat % 2)
    metrics.degraded_turns.labels("user").inc()
    metrics.repeats.inc()
    metrics.unknown_fields.inc()
    metrics.paused.labels("retry").set(0)
    for stage, seconds in (("encode", 0.12), ("decide", 0.004), ("store", 0.03)):
        metrics.batch_seconds.labels(stage).observe(seconds)
    metrics.batch_size.observe(12)
    metrics.fenced.inc()
    metrics.store_up.set(1)
    metrics.encoder_up.set(1)
    for clock in ("database", "machine"):
        metrics.clock_apart.labels(clock).set(0.01)
    metrics.gaps.labels("page_missing").inc(beat % 16 == 0)
    metrics.ready.set(1)
    metrics.loop_lag.observe(0.004)
    for result in ("sent", "accepted", "not_sent"):
        metrics.canaries.labels(result).inc()
    metrics.canary_seconds.observe(2.6)
    metrics.canary_success.labels("0").set(20)
    metrics.canary_due.labels("0").set(-300)
    for result in ("heard", "not_heard"):
        metrics.canary_heartbeats.labels(result).inc()
    for part in ("pipeline", "timers", "heartbeat", "auditor"):
        metrics.last_progress.labels(part).set(1)
