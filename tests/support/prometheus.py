"""A real Prometheus (Debian's) on loopback, asked over its HTTP interface."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
import yaml

from monitor.demo.ports import free_port

T = TypeVar("T")

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where Debian's prometheus and prometheus-alertmanager are not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def until(what: str, check: Callable[[], T | None], seconds: float = 15) -> T:
    """Return the first result of ``check`` that is not empty; fail after ``seconds``."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while time.monotonic() < end:
        if found := check():
            return found
        pause.wait(0.1)
    pytest.fail(f"not within {seconds} s: {what}")


@dataclass(frozen=True, slots=True)
class Prometheus:
    client: httpx2.Client

    def query(self, expr: str) -> list[dict[str, Any]]:
        """Return the samples of ``expr`` now. Fails if Prometheus cannot read it."""
        return self._ask("query", {"query": expr})["result"]

    def label_values(self, label: str, series: str) -> list[str]:
        return self._ask(f"label/{label}/values", {"match[]": series})

    def firing(self, name: str, **labels: str) -> dict[str, Any] | None:
        """Return the alert of this name and these labels if it fires."""
        wanted = {"alertname": name, **labels}.items()
        return next(
            (a for a in self.alerts() if a["state"] == "firing" and wanted <= a["labels"].items()), None
        )

    def alerts(self) -> list[dict[str, Any]]:
        """Every alert that is pending or fires."""
        return self._ask("alerts", {})["alerts"]

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its health and when it was last evaluated."""
        return [rule for group in self._ask("rules", {})["groups"] for rule in group["rules"]]

    def _ask(self, what: str, parameters: dict[str, str]) -> Any:
        answer = self.client.get(f"/api/v1/{what}", params=parameters).json()
        assert answer["status"] == "success", f"{answer.get('error')}: {parameters}"
        return answer["data"]


@contextmanager
def running(
    directory: Path, *targets: str, apart: Mapping[str, str] | None = None, every: float = 0.5
) -> Iterator[Prometheus]:
    """Run Prometheus with the shipped rules over ``targets``, ``every`` so many seconds, until the block ends.

    ``apart``: further targets by the name of a job of their own.
    """
    config = directory / "prometheus.yml"
    config.write_text(
        yaml.safe_dump(
            _config({"jiezhu": targets, **{job: (one,) for job, one in (apart or {}).items()}}, every)
        ),
        encoding="utf-8",
    )
    address = f"127.0.0.1:{free_port()}"
    log = directory / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address={address}",
                "--rules.alert.resend-delay=1s",
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        with httpx2.Client(base_url=f"http://{address}", timeout=5) as client:
            until(f"Prometheus ready, see {log}", lambda: _ready(client, process))
            yield Prometheus(client)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _config(jobs: Mapping[str, tuple[str, ...]], every: float) -> dict[str, Any]:
    return {
        "global": {
            "scrape_interval": f"{every * 1000:.0f}ms",
            "scrape_timeout": f"{every * 800:.0f}ms",
            "evaluation_interval": f"{every * 1000:.0f}ms",
            "external_labels": {"runbook_base": "deploy/runbooks", "dashboard_base": "http://grafana"},
        },
        "rule_files": [str(RULES / "*.yml")],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": list(targets)}]} for job, targets in jobs.items()
        ],
    }


def _ready(client: httpx2.Client, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "Prometheus ended by itself"
    try:
        return client.get("/-/ready").is_success
    except httpx2.TransportError:
        return False
