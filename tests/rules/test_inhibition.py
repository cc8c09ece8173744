"""What keeps quiet while something graver rings: the shipped inhibitions on a real Alertmanager."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import yaml

from monitor.demo.ports import free_port
from tests.rules.shipped import alerts
from tests.rules.test_alertmanager import configuration
from tests.support.prometheus import needs, until

# All that may ever keep quiet. Whatever is not here says that a person is in danger, unseen or waiting, or stands alone.
MAY_KEEP_QUIET = {
    "JiezhuDatabaseAway",
    "JiezhuEncoderDown",
    "JiezhuPartStuck",
    "JiezhuSourcePaused",
    "JiezhuScorerFailing",
    "JiezhuEventLoopLag",
    "JiezhuClockApart",
    "JiezhuPublisherMissing",
    "JiezhuTallyFailing",
    "JiezhuSourceLag",
    "JiezhuDeadLetters",
    "JiezhuTurnsLateSlowly",
    "JiezhuPagesLateSlowly",
    "JiezhuCanariesLateSlowly",
    "JiezhuPagerUnreachable",
}
# Of these, those that speak of one worker: another worker's trouble is no reason to keep quiet.
OF_ONE_WORKER = {
    "JiezhuDatabaseAway",
    "JiezhuEncoderDown",
    "JiezhuPartStuck",
    "JiezhuSourcePaused",
    "JiezhuScorerFailing",
    "JiezhuEventLoopLag",
    "JiezhuClockApart",
}
BINARY = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager") or "prometheus-alertmanager"


def inhibitions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = configuration()["inhibit_rules"]
    return found


def named(matchers: list[str]) -> set[str]:
    """The alerts that matchers name, one by one."""
    matcher = next(one for one in matchers if one.startswith("alertname"))
    names = re.fullmatch(r'alertname (?:=|=~) "([\w|]+)"', matcher)
    assert names is not None, f"names alerts by a pattern: {matcher}"
    return set(names[1].split("|"))


def test_only_what_rings_makes_others_quiet_and_only_in_the_same_place() -> None:
    severity = {alert["alert"]: alert["labels"]["severity"] for alert in alerts()}
    for rule in inhibitions():
        assert set(rule) == {"source_matchers", "target_matchers", "equal"}
        assert 'severity = "page"' in rule["source_matchers"]
        assert {severity[name] for name in named(rule["source_matchers"])} == {"page"}
        assert rule["equal"]
        targets = named(rule["target_matchers"])
        assert targets <= MAY_KEEP_QUIET
        assert not targets & named(rule["source_matchers"])
        by_one_worker = named(rule["source_matchers"]) <= OF_ONE_WORKER | {"JiezhuWorkerDown"}
        if by_one_worker and targets & OF_ONE_WORKER:
            assert "instance" in rule["equal"]


@dataclass(frozen=True, slots=True)
class Alertmanager:
    client: httpx2.Client

    def tell(self, *told: Mapping[str, str], over: bool = False) -> None:
        end = datetime.now(UTC) + (timedelta(seconds=-1) if over else timedelta(hours=1))
        start = datetime.now(UTC) - timedelta(minutes=5)
        body = [
            {"labels": dict(one), "startsAt": start.isoformat(), "endsAt": end.isoformat()} for one in told
        ]
        assert self.client.post("/api/v2/alerts", json=body).is_success

    def quiet(self) -> set[str]:
        return {one["labels"]["alertname"] for one in self._alerts() if one["status"]["inhibitedBy"]}

    def ringing(self) -> set[str]:
        return {
            one["labels"]["alertname"] for one in self._alerts() if one["status"]["state"] != "suppressed"
        }

    def _alerts(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get("/api/v2/alerts").json()
        return found


@contextmanager
def running(directory: Path) -> Iterator[Alertmanager]:
    """Run Alertmanager with the shipped routes and inhibitions, and receivers that tell nobody."""
    config = configuration()
    config["receivers"] = [{"name": receiver["name"]} for receiver in config["receivers"]]
    path = directory / "alertmanager.yml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                BINARY,
                f"--config.file={path}",
                f"--storage.path={directory / 'data'}",
                f"--web.listen-address={address}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        with httpx2.Client(base_url=f"http://{address}", timeout=5) as client:
            until("Alertmanager ready", lambda: _ready(client, process))
            yield Alertmanager(client)
    finally:
        process.terminate()
        process.wait(timeout=20)


def _ready(client: httpx2.Client, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "Alertmanager ended by itself"
    try:
        return client.get("/-/ready").is_success
    except httpx2.TransportError:
        return False


def firing(instance: str) -> list[dict[str, str]]:
    """Every shipped alert at once, as one worker of one Prometheus would have it."""
    return [
        {
            "alertname": alert["alert"],
            "severity": alert["labels"]["severity"],
            "job": "jiezhu",
            "instance": instance,
            "monitor": "jiezhu",
        }
        for alert in alerts()
    ]


CRISIS = {
    "alertname": "JiezhuCrisis",
    "severity": "critical",
    "incident": "c1-1",
    "job": "jiezhu",
    "instance": "a",
}


@needs(BINARY)
def test_when_all_is_on_fire_only_what_follows_keeps_quiet(tmp_path: Path) -> None:
    everything = {alert["alert"] for alert in alerts()}
    with running(tmp_path) as alertmanager:
        alertmanager.tell(CRISIS, *firing("a"))
        until(
            "alerts taken", lambda: len(alertmanager.ringing() | alertmanager.quiet()) == len(everything) + 1
        )
        until("inhibitions known", lambda: alertmanager.quiet() == MAY_KEEP_QUIET)
        assert alertmanager.ringing() == everything - MAY_KEEP_QUIET | {"JiezhuCrisis"}


@needs(BINARY)
def test_trouble_of_one_worker_hides_nothing_of_another_and_nothing_once_it_is_over(tmp_path: Path) -> None:
    down = {
        "alertname": "JiezhuWorkerDown",
        "severity": "page",
        "job": "jiezhu",
        "instance": "a",
        "monitor": "jiezhu",
    }
    stuck = {**down, "alertname": "JiezhuPartStuck", "part": "relay"}
    with running(tmp_path) as alertmanager:
        alertmanager.tell(down, {**stuck, "instance": "b"})
        until("both taken", lambda: alertmanager.ringing() == {"JiezhuWorkerDown", "JiezhuPartStuck"})
        assert alertmanager.quiet() == set()

        alertmanager.tell(stuck)
        until("same worker", lambda: alertmanager.quiet() == {"JiezhuPartStuck"})

        alertmanager.tell(down, over=True)
        until("worker back", lambda: alertmanager.quiet() == set())
        assert "JiezhuPartStuck" in alertmanager.ringing()
