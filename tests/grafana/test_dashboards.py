"""The dashboards as they are committed: built anew without a difference, each panel with what a reader needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.grafana.support.boards import CHOICES, DASHBOARDS, GRAFANA, load, panel_queries, panels
from tests.support.prometheus import RULES

every_board = pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)


def test_committed_json_is_what_the_code_builds(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(GRAFANA / "build.py"), str(tmp_path)], check=True, timeout=60)
    assert {path.name for path in DASHBOARDS} == {path.name for path in tmp_path.iterdir()}
    for path in DASHBOARDS:
        assert path.read_text(encoding="utf-8") == (tmp_path / path.name).read_text(encoding="utf-8"), (
            f"{path.name} differs: run python grafana/build.py"
        )


def test_there_are_five_and_each_is_named_like_its_file() -> None:
    assert {load(path)["uid"] for path in DASHBOARDS} == {f"jiezhu-{path.stem}" for path in DASHBOARDS}
    assert {path.stem for path in DASHBOARDS} == {
        "live-safety",
        "support-quality",
        "canary-against-stable",
        "delivery",
        "monitor-health",
    }


@every_board
def test_every_panel_says_what_it_shows_in_which_unit(path: Path) -> None:
    dashboard = load(path)
    for panel in panels(dashboard):
        assert len(panel["description"]) > 30, panel["title"]
        if panel["type"] == "text":
            continue
        assert panel["datasource"]["uid"] == "${datasource}"
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"], panel["title"]
        assert defaults["noValue"] == "no data yet", panel["title"]
        assert defaults["thresholds"]["steps"], panel["title"]
    assert len({panel["title"] for panel in panels(dashboard)} | {"Oldest notification"}) >= 15
    spots = [tuple(panel["gridPos"][side] for side in "xywh") for panel in dashboard["panels"]]
    assert len({spot[:2] for spot in spots}) == len(spots), "panels on top of each other"
    assert all(x + w <= 24 for x, _, w, _ in spots)


@every_board
def test_panels_lie_beside_each_other(path: Path) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in load(path)["panels"]:
        x, y, w, h = (panel["gridPos"][side] for side in "xywh")
        here = {(x + dx, y + dy) for dx in range(w) for dy in range(h)}
        assert not here & taken, panel["title"]
        taken |= here


@every_board
def test_ids_of_panels_are_given_once(path: Path) -> None:
    ids = [panel["id"] for panel in load(path)["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(number > 0 for number in ids)


@every_board
def test_every_variable_chooses_and_none_is_unknown(path: Path) -> None:
    dashboard = load(path)
    offered = {variable["name"] for variable in dashboard["templating"]["list"]} - {"datasource"}
    asked = " ".join(expr for where, expr in panel_queries() if where.startswith(f"{path.stem} "))
    used = set(re.findall(r"\$(?!__)(\w+)", asked))
    assert used == offered
    assert offered >= CHOICES


def places() -> set[tuple[str, int]]:
    return {(load(path)["uid"], panel["id"]) for path in DASHBOARDS for panel in panels(load(path))}


def links(panel: dict[str, Any]) -> list[dict[str, Any]]:
    return panel.get("links") or []


def test_links_lead_to_panels_that_exist_and_take_the_choice_along() -> None:
    found = [
        (path.stem, link) for path in DASHBOARDS for panel in panels(load(path)) for link in links(panel)
    ]
    assert {board for board, _ in found} == {path.stem for path in DASHBOARDS}
    for _, link in found:
        target = re.fullmatch(r"/d/([\w-]+)\?viewPanel=(\d+)", link["url"])
        assert target is not None, link["url"]
        assert (target[1], int(target[2])) in places()
        assert link["includeVars"]
        assert link["keepTime"]


@every_board
def test_dashboards_lead_to_each_other(path: Path) -> None:
    dashboard = load(path)
    [link] = dashboard["links"]
    assert (link["type"], link["includeVars"], link["keepTime"]) == ("dashboards", True, True)
    assert set(link["tags"]) <= set(dashboard["tags"])


def test_the_way_to_the_incidents_names_commands_that_exist() -> None:
    [panel] = [p for p in panels(load(GRAFANA / "dashboards" / "live-safety.json")) if p["id"] == 47]
    told = set(re.findall(r"^jiezhu (incidents \w+)", panel["options"]["content"], re.MULTILINE))
    assert told == {"incidents list", "incidents show", "incidents ack"}
    for command in told:
        done = subprocess.run(
            [sys.executable, "-m", "monitor", *command.split(), "--help"],
            capture_output=True,
            timeout=60,
            check=False,
            cwd=GRAFANA.parent,
        )
        assert done.returncode == 0, command


@every_board
def test_nothing_asks_for_a_person_a_conversation_or_their_words(path: Path) -> None:
    """Label names that could hold one are no labels of ours (M7); a panel that shows logs or text of others is none of ours."""
    asked = " ".join(expr for where, expr in panel_queries() if where.startswith(f"{path.stem} "))
    assert not re.search(r"\b(conversation|user_id|event_id|text|message|incident|words)\b\s*(=|!)", asked)
    assert {panel["type"] for panel in panels(load(path))} <= {"stat", "timeseries", "table", "text"}


def test_files_that_grafana_reads_at_start_fit_together() -> None:
    provisioning = GRAFANA / "provisioning"
    source = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text(encoding="utf-8"))
    provider = yaml.safe_load((provisioning / "dashboards" / "jiezhu.yaml").read_text(encoding="utf-8"))
    config = yaml.safe_load((RULES.parent / "prometheus.yml").read_text(encoding="utf-8"))
    assert source["datasources"][0]["jsonData"]["timeInterval"] == config["global"]["scrape_interval"]
    compose = yaml.safe_load((GRAFANA.parent / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    mounts = dict(volume.split(":")[:2] for volume in compose["services"]["grafana"]["volumes"])
    assert mounts["../grafana/dashboards"] == provider["providers"][0]["options"]["path"]
