"""Who is told: the routes of the shipped Alertmanager configuration."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from alerts.page import Kind
from alerts.pagers.alertmanager import AlertmanagerSettings, alert
from tests.rules.shipped import alerts
from tests.support.pages import a_page
from tests.support.prometheus import RULES, needs

CONFIG = RULES.parents[1] / "alertmanager" / "alertmanager.yml"


def configuration() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    return found


def routes(route: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield route
    for child in route.get("routes", []):
        yield from routes(child)


def amtool(*arguments: str) -> str:
    done = subprocess.run(["amtool", *arguments], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@needs("amtool")
def test_configuration_is_valid() -> None:
    assert "SUCCESS" in amtool("check-config", str(CONFIG))


@needs("amtool")
@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        # what jiezhu itself sends
        (("alertname=JiezhuCrisis", "severity=critical", "incident=c1-1", "track=production"), "crisis"),
        (("alertname=JiezhuCrisis", "severity=critical", "incident=c1-1", "test=true"), "crisis"),
        (("alertname=JiezhuCrisis", "severity=warning", "incident=c1-1"), "ticket"),
        # what Prometheus sends
        (("alertname=JiezhuCrisisMissed", "severity=page", "track=staging"), "crisis"),
        (("alertname=JiezhuDeadMansSwitch", "severity=none"), "heartbeat"),
        (("alertname=JiezhuLineStopped", "severity=page"), "page"),
        (("alertname=JiezhuReleaseWorse", "severity=page", "release=r3"), "page"),
        (("alertname=JiezhuStyleDrift", "severity=ticket", "release=r3"), "ticket"),
        (("alertname=JiezhuDeadLetters", "severity=ticket"), "ticket"),
        # a slip in somebody's rule rings rather than vanish
        (("alertname=Unheard", "severity=Page"), "page"),
        (("alertname=Unheard",), "page"),
    ],
)
def test_route(labels: tuple[str, ...], receiver: str) -> None:
    assert amtool("config", "routes", "test", f"--config.file={CONFIG}", *labels) == receiver


@needs("amtool")
def test_each_alert_goes_where_its_severity_says() -> None:
    expected = {"page": {"page", "crisis"}, "ticket": {"ticket"}, "none": {"heartbeat"}}
    for rule in alerts():
        labels = (f"alertname={rule['alert']}", f"severity={rule['labels']['severity']}")
        went = amtool("config", "routes", "test", f"--config.file={CONFIG}", *labels)
        assert went in expected[rule["labels"]["severity"]], rule["alert"]


def test_nothing_in_the_configuration_can_mute_a_crisis_for_a_time() -> None:
    """R55. No window to forget, in whatever time zone. A silence set by hand is told of: ``JiezhuAlertSilenced``."""
    config = configuration()
    assert not {"mute_time_intervals", "time_intervals"} & set(config)
    for route in routes(config["route"]):
        assert not {"mute_time_intervals", "active_time_intervals"} & set(route)


def test_crisis_goes_out_at_once_one_notification_an_incident() -> None:
    crisis = next(route for route in routes(configuration()["route"]) if route["receiver"] == "crisis")
    assert crisis["group_wait"] == "0s"
    assert crisis["group_by"] == ["alertname", "incident"]


@pytest.mark.parametrize(("receiver", "kind"), [("crisis", Kind.PAGE), ("ticket", Kind.TICKET)])
def test_whoever_is_rung_by_jiezhu_reads_what_to_do_first(receiver: str, kind: Kind) -> None:
    [found] = [one for one in configuration()["receivers"] if one["name"] == receiver]
    details = found["pagerduty_configs"][0]["details"]
    shown = set(re.findall(r"CommonAnnotations\.(\w+)", " ".join(details.values())))
    page = a_page(kind=kind, ack_link="https://jiezhu.example.org/a")
    said = alert(page, AlertmanagerSettings(url="http://a:9093"), page.since)["annotations"]
    known = {"first_step", "since", "assistant", "level", "incident", "acknowledge"}
    assert known <= set(said)
    assert known <= shown


def test_heartbeat_beats_within_the_patience_of_the_service_outside() -> None:
    """R63. What watches from outside notices within two minutes."""
    config = configuration()
    beat = next(route for route in routes(config["route"]) if route["receiver"] == "heartbeat")
    interval, repeat = (int(beat[key].removesuffix("s")) for key in ("group_interval", "repeat_interval"))
    # Two beats may be lost before two minutes are over; and a repeat is due at every interval.
    assert repeat < interval <= 40
    receiver = next(receiver for receiver in config["receivers"] if receiver["name"] == "heartbeat")
    assert receiver["webhook_configs"][0]["send_resolved"] is False


def test_no_secret_stands_in_the_configuration() -> None:
    text = CONFIG.read_text(encoding="utf-8")
    assert not re.search(
        r"^\s*-?\s*(routing_key|service_key|credentials|password|bearer_token):", text, re.MULTILINE
    )
