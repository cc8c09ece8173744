"""One runbook an alert, one alert a runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from alerts.gaps import Gap
from tests.grafana.support.boards import DASHBOARDS, load
from tests.rules.shipped import alerts
from tests.support.prometheus import RULES

RUNBOOKS = RULES.parents[1] / "runbooks"
BOARDS = {load(path)["title"].removeprefix("jiezhu · "): load(path)["panels"] for path in DASHBOARDS}
TITLES = {name: {panel["title"] for panel in panels} for name, panels in BOARDS.items()}


def test_one_runbook_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == {alert["alert"] for alert in alerts()}


@pytest.mark.parametrize("path", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_runbook_has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^#+ (.+)$", text, re.MULTILINE) == [
        path.stem,
        "Meaning",
        "Impact",
        "Diagnosis",
        "Mitigation",
    ]
    parts = re.split(r"^## .+$", text, flags=re.MULTILINE)
    assert all(len(part.split()) >= 12 for part in parts[1:]), "a part says too little"


def test_of_missing_records_it_is_said_who_may_have_found_them() -> None:
    """Not the auditor alone, who is the only one that pages by itself."""
    [alert] = [alert for alert in alerts() if alert["alert"] == "JiezhuRecordsMissing"]
    runbook = (RUNBOOKS / "JiezhuRecordsMissing.md").read_text(encoding="utf-8")
    for text in (alert["annotations"]["description"], runbook):
        assert {"batch", "timer", "erasure", "unreadable"} <= set(re.findall(r"\w+", text))
    assert {gap.value for gap in Gap} <= set(re.findall(r"\w+", runbook))


@pytest.mark.parametrize("path", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_panels_that_a_runbook_names_are_there(path: Path) -> None:
    """In italics: a dashboard, or a panel, of the dashboard that the same line names if it names one."""
    for line in path.read_text(encoding="utf-8").splitlines():
        named = set(re.findall(r"(?<!\*)\*(\w[^*]*)\*", line))
        boards = named & set(TITLES) or set(TITLES)
        panels = set().union(*(TITLES[board] for board in boards))
        assert named - set(TITLES) <= panels, line


@pytest.mark.parametrize("path", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_commands_of_a_runbook_go_as_they_are_typed(path: Path) -> None:
    for command in re.findall(r"`([^`]+)`", path.read_text(encoding="utf-8")):
        if re.match(r"jiezhu incidents (ack|resolve) ", command):
            assert " --by " in command, command
        if "kafka-configs" in command:
            assert command.startswith(
                "docker compose exec kafka /opt/kafka/bin/kafka-configs.sh --bootstrap-server kafka:9092 "
            )
            assert "--entity-type topics --entity-name turns" in command
        assert not re.match(r"jiezhu judge \S", command), command
