"""From an alert to its panel, its runbook and the incidents behind it, beside the demonstration."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.grafana.support.boards import CHOSEN, DASHBOARDS, filled_in, load, panels
from tests.support.prometheus import RULES, Prometheus, needs, until

pytestmark = [pytest.mark.xdist_group("dashboards"), needs("prometheus")]

RANGE = {"$__rate_interval": "1m", "$__interval": "6s", "$__range": "5m", **CHOSEN}
RUNBOOKS = RULES.parents[1] / "runbooks"


def panel_at(path: str) -> dict[str, Any]:
    uid, number = re.fullmatch(r"/d/([\w-]+)\?viewPanel=(\d+)", path).groups()
    [board] = [load(one) for one in DASHBOARDS if load(one)["uid"] == uid]
    [panel] = [one for one in panels(board) if one["id"] == int(number)]
    return panel


def chosen_by(url: str, labels: dict[str, str]) -> dict[str, str]:
    """What the address of an alert with these labels chooses."""
    asked = re.findall(r"&var-(\w+)=\{\{ \$labels\.(\w+) \| urlquery \}\}", url)
    return {f"${variable}": labels[label] for variable, label in asked}


def test_every_alert_of_the_demonstration_finds_data_in_its_panel(
    demonstration: Prometheus, alert_panels: dict[str, Any]
) -> None:
    until("the alert of a miss", lambda: demonstration.firing("JiezhuCrisisMissed", track="canary"))
    for alert in demonstration.alerts():
        name, labels = alert["labels"]["alertname"], alert["labels"]
        place = alert_panels[name]
        panel = panel_at(f"/d/{place['uid']}?viewPanel={place['panel']}")
        chosen = {**RANGE, **chosen_by(place["dashboard_url"], labels)}
        answers = [demonstration.query(filled_in(one["expr"], chosen)) for one in panel["targets"]]
        assert any(answers), (name, chosen)
        assert (RUNBOOKS / f"{name}.md").is_file()


@pytest.mark.parametrize("alert", ["JiezhuCrisisMissed", "JiezhuReleaseWorse", "JiezhuCanaryMissing"])
def test_from_the_panel_one_goes_on_to_the_incidents(alert_panels: dict[str, Any], alert: str) -> None:
    place = alert_panels[alert]
    [link] = panel_at(f"/d/{place['uid']}?viewPanel={place['panel']}")["links"]
    assert "jiezhu incidents list" in panel_at(link["url"])["options"]["content"]
