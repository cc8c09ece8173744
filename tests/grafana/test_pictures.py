"""Pictures of the dashboards: one each, small enough for a repository, and what a reader finds in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

from tests.grafana.support.boards import DASHBOARDS, GRAFANA, load, panels
from tests.support.prometheus import Prometheus, needs

sys.path.append(str(GRAFANA))  # its scripts find each other by their bare names

from amounts import written
from asking import Answer, Asker, Line, Span
from drawing import draw
from pictures import main

pytestmark = pytest.mark.xdist_group("dashboards")

MOST_BYTES = 400_000
SPAN = Span(start=0.0, end=60.0, step=1.0, window=10.0, scrape=1.0)
every_board = pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)


@every_board
def test_committed_picture_is_small_and_of_a_dashboard(path: Path) -> None:
    picture = GRAFANA / "pictures" / f"{path.stem}.png"
    assert picture.stat().st_size < MOST_BYTES
    with Image.open(picture) as image:
        assert image.width >= 1200


def test_no_picture_is_left_of_a_panel_that_is_gone() -> None:
    there = {path.stem for path in DASHBOARDS}
    there |= {f"{path.stem}-{panel['id']}" for path in DASHBOARDS for panel in panels(load(path))}
    assert {path.stem for path in (GRAFANA / "pictures").glob("*")} <= there


@needs("prometheus")
def test_pictures_are_drawn_from_a_prometheus(demonstration: Prometheus, tmp_path: Path) -> None:
    address = str(demonstration.client.base_url)
    given = ["--to", str(tmp_path), "--minutes", "0.5", "--scrape", "1", "--board", "delivery"]
    assert main([address, *given]) == 0
    assert main([address, *given, "--panel", "17"]) == 0
    drawn = {path.name: path for path in tmp_path.iterdir()}
    assert set(drawn) == {"delivery.png", "delivery-17.png"}
    for path in drawn.values():
        assert 3_000 < path.stat().st_size < MOST_BYTES
        with Image.open(path) as image:
            assert len(image.convert("RGB").getcolors(100_000)) > 10


def test_a_panel_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="no panel 99999"):
        main(["http://127.0.0.1:1", "--board", "delivery", "--panel", "99999"])


def texts(board: dict[str, Any], answer: Any) -> list[str]:
    figure = draw(board, answer, SPAN, "a caption")
    return [text.get_text() for text in (*figure.texts, *(t for axes in figure.axes for t in axes.texts))]


@every_board
def test_empty_panels_say_so(path: Path) -> None:
    board = load(path)
    shown = texts(board, lambda panel: [Answer(target["refId"]) for target in panel.get("targets", ())])
    asking = [panel for panel in panels(board) if panel["type"] != "text"]
    assert shown.count("no data yet") == len(asking)
    assert not set(shown) & {"0", "0 s", "0 %"}


@every_board
def test_panels_say_what_the_answer_is(path: Path) -> None:
    board = load(path)

    def answer(panel: dict[str, Any]) -> list[Answer]:
        line = Line({"release": "4.2"}, (58.0, 60.0), (1.0, 1.0), "a line")
        return [Answer(target["refId"], (line,)) for target in panel.get("targets", ())]

    shown = texts(board, answer)
    assert "no data yet" not in shown
    titles = {panel["title"] for panel in board["panels"]}
    assert titles <= set(shown)
    assert "a caption" in shown


@pytest.mark.parametrize(
    ("value", "unit", "decimals", "expected"),
    [
        (0.0044, "percentunit", None, "0.44 %"),
        (0.044, "percentunit", None, "4.4 %"),
        (0.7, "percentunit", 2, "70.00 %"),
        (0, "s", None, "0 s"),
        (0.175, "s", None, "175 ms"),
        (86400, "s", None, "24 h"),
        (90, "s", None, "90 s"),
        (600 * 2**20, "bytes", None, "600 MiB"),
        (52000, "short", None, "52,000"),
        (-0.001, "short", 2, "0.00"),
        (1.5, "cps", None, "1.5 /s"),
    ],
)
def test_amounts_are_written_with_their_unit(
    value: float, unit: str, decimals: int | None, expected: str
) -> None:
    assert written(value, unit, decimals) == expected


def test_every_unit_of_a_dashboard_can_be_written() -> None:
    units = {
        panel["fieldConfig"]["defaults"]["unit"]
        for p in DASHBOARDS
        for panel in panels(load(p))
        if "targets" in panel
    }
    assert all(written(1.0, unit) for unit in units)


def test_a_query_that_cannot_be_answered_is_an_error() -> None:
    refused = httpx2.MockTransport(
        lambda _: httpx2.Response(400, json={"status": "error", "error": "parse error"})
    )
    asker = Asker(httpx2.Client(transport=refused, base_url="http://prometheus"), SPAN)
    with pytest.raises(ValueError, match="parse error"):
        asker.panel({"targets": [{"refId": "A", "expr": "nonsense(", "instant": True}]})
