"""Every alert fires, stays quiet and resolves: promtool plays the timelines beside this file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rules import promql
from tests.rules.shipped import TIMELINES, Course, alerts, courses, groups, rules
from tests.support.prometheus import needs

GRAFANA = Path(__file__).parents[2] / "grafana"
each_alert = pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])


@needs("promtool")
@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda path: path.stem)
def test_timeline(timeline: Path) -> None:
    played = subprocess.run(
        ["promtool", "test", "rules", str(timeline)], capture_output=True, text=True, timeout=120, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr


@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda path: path.stem)
def test_timeline_evaluates_all_groups_of_its_files_records_first(timeline: Path) -> None:
    """A group that the order does not know comes first, before the records that it stands on."""
    played = yaml.safe_load(timeline.read_text(encoding="utf-8"))
    files = [(timeline.parent / name).resolve() for name in played["rule_files"]]
    if len(files) == 1:
        return
    names = {
        kind: [g["name"] for f in files if kind in f.stem for g in groups(f)]
        for kind in ("recording", "alerts")
    }
    order = played["group_eval_order"]
    assert sorted(order) == sorted(names["recording"] + names["alerts"])
    assert set(order[: len(names["recording"])]) == set(names["recording"])


def test_names_of_alerts_are_unique() -> None:
    names = [alert["alert"] for alert in alerts()]
    assert len(names) == len(set(names))


@each_alert
def test_alert_fires_and_resolves(alert: dict[str, Any]) -> None:
    assert any(re.search("0+1+0", one.course) for one in _courses(alert)), _courses(alert)


@each_alert
def test_alert_stays_quiet_when_it_is_close(alert: dict[str, Any]) -> None:
    """A near miss is named for its alert, looks at it more than once, and feeds what the alert stands on."""
    misses = [one for one in _courses(alert) if one.test.startswith(f"near miss of {alert['alert']},")]
    assert misses
    needed = _metrics_of(alert["expr"])
    for miss in misses:
        assert re.fullmatch("00+", miss.course), miss
        assert miss.series & needed, miss
    assert needed <= set().union(*(miss.series for miss in misses)) | promql.OPTIONAL, (
        "a near miss of nothing"
    )


def test_near_misses_are_of_alerts_that_exist() -> None:
    named = {m[1] for one in courses() if (m := re.match(r"near miss of (\w+),", one.test))}
    assert named == {alert["alert"] for alert in alerts()}


@cache
def panels_of_alerts() -> dict[str, dict[str, Any]]:
    """At which panel one looks when an alert fires, as the code of the dashboards says it."""
    script = [sys.executable, str(GRAFANA / "alert_panels.py")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


@each_alert
def test_alert_says_how_urgent_it_is_what_it_means_and_where_to_read_on(alert: dict[str, Any]) -> None:
    urgency = "none" if alert["alert"] == "JiezhuDeadMansSwitch" else "page|ticket"
    assert re.fullmatch(urgency, alert["labels"]["severity"])
    texts = alert["annotations"]
    assert set(texts) == {"summary", "description", "runbook_url", "dashboard_url"}
    assert len(texts["summary"]) <= 120
    assert texts["description"].endswith(".")
    assert texts["runbook_url"] == "{{ $externalLabels.runbook_base }}/" + alert["alert"] + ".md"
    assert texts["dashboard_url"] == panels_of_alerts()[alert["alert"]]["dashboard_url"]


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


def _courses(alert: dict[str, Any]) -> list[Course]:
    return [one for one in courses() if one.alert == alert["alert"]]


def _metrics_of(expr: str) -> set[str]:
    """The metrics that an expression stands on, through every record in between."""
    records = {rule["record"]: rule["expr"] for rule in rules("record")}
    found, todo = set(), [expr]
    while todo:
        for one in promql.series(todo.pop()):
            if one.name in records:
                todo.append(records[one.name])
            else:
                found.add(one.name)
    return found
