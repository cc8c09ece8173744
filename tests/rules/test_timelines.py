"""Every alert fires, stays quiet and resolves: promtool plays the timelines beside this file."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.prometheus import RULES, needs

TIMELINES = sorted((Path(__file__).parent / "timelines").glob("*.yml"))


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((RULES / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


@needs("promtool")
@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda path: path.stem)
def test_timeline(timeline: Path) -> None:
    played = subprocess.run(
        ["promtool", "test", "rules", str(timeline)], capture_output=True, text=True, timeout=60, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr


def test_each_alert_has_a_timeline_in_which_it_is_quiet_fires_and_resolves() -> None:
    seen: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for timeline in TIMELINES:
        for test in yaml.safe_load(timeline.read_text(encoding="utf-8"))["tests"]:
            values: dict[str, str] = defaultdict(str)
            for check in test["promql_expr_test"]:
                name = re.search(r'alertname="(\w+)"', check["expr"])
                assert name is not None
                values[name[1]] += "1" if check["exp_samples"][0]["value"] else "0"
            for name_, course in values.items():
                seen[name_].append((test["name"], course))
    for alert in alerts():
        courses = [course for _, course in seen[alert["alert"]]]
        assert any(re.search("0+1+0", course) for course in courses), (alert["alert"], courses)


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_alert_says_how_urgent_it_is_what_it_means_and_where_to_read_on(alert: dict[str, Any]) -> None:
    urgency = "none" if alert["alert"] == "JiezhuDeadMansSwitch" else "page|ticket"
    assert re.fullmatch(urgency, alert["labels"]["severity"])
    texts = alert["annotations"]
    assert set(texts) == {"summary", "description", "runbook_url"}
    assert len(texts["summary"]) <= 120
    assert texts["description"].endswith(".")
    assert texts["runbook_url"] == "{{ $externalLabels.runbook_base }}/" + alert["alert"] + ".md"


def test_the_canarys_absence_explains_itself_to_whoever_wants_to_silence_it() -> None:
    """People silence the watchdog they do not understand (R63)."""
    texts = next(a["annotations"] for a in alerts() if a["alert"] == "JiezhuCanaryMissing")
    assert "Do not silence" in texts["summary"]
    assert "made-up crisis" in texts["summary"]
    for words in ("No person is behind it", "That is why it rings", "rather than silence"):
        assert words in " ".join(texts["description"].split())


def test_heartbeat_explains_itself_to_whoever_wants_to_silence_it() -> None:
    """R63."""
    texts = next(a["annotations"] for a in alerts() if a["alert"] == "JiezhuDeadMansSwitch")
    assert "Do not silence" in texts["summary"]
    assert "meant to fire all the time" in texts["summary"]
    assert "when it stays away" in texts["description"]
