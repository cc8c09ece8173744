"""What queries say, not only that they say something: counts are exact, verdicts are right, and silence is no zero."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.grafana.support import recording
from tests.grafana.support.boards import CHOSEN, YOUNG, filled_in, panel_queries, query_of
from tests.support.prometheus import Prometheus, needs, running

pytestmark = [pytest.mark.xdist_group("dashboards"), needs("prometheus")]

RANGE = {"$__rate_interval": "1m", "$__interval": "6s", "$__range": "5m", **CHOSEN}


def by(label: str, prometheus: Prometheus, expr: str) -> dict[str, float]:
    return {one["metric"].get(label, ""): float(one["value"][1]) for one in prometheus.query(expr)}


def missed() -> float:
    return sum(
        recording.total("jiezhu_crisis_outcomes_total", f'outcome="{outcome}"')
        for outcome in ("unhandled", "no_reply", "harmful")
    )


def test_figure_of_misses_is_their_number(demonstration: Prometheus) -> None:
    assert missed() > 0
    [figure] = by("", demonstration, filled_in(query_of("live-safety", 11), RANGE)).values()
    assert figure == missed()


def test_bars_add_up_to_what_happened(demonstration: Prometheus) -> None:
    now = time.time()
    asked: dict[str, Any] = {
        "query": filled_in(query_of("live-safety", 17), RANGE),
        "start": now - 40 * 6,
        "end": now,
        "step": 6,
    }
    lines = demonstration.client.get("/api/v1/query_range", params=asked).json()["data"]["result"]
    assert sum(float(value) for line in lines for _, value in line["values"]) == missed()


def test_verdicts_on_rates(demonstration: Prometheus) -> None:
    expr = query_of("canary-against-stable", 17, "A")
    said = by("rate", demonstration, filled_in(expr, RANGE))
    worse, no_difference, not_enough = 1, 0, -1
    assert said["safety_miss"] == worse
    assert said["emotion_named"] == worse  # less of it is worse
    assert said["over_triggered"] == said["continuation"] == no_difference
    scripted = by("rate", demonstration, filled_in(expr, {**RANGE, "$basis": "probe"}))
    assert scripted["returned"] == not_enough
    [figure] = by("rate", demonstration, filled_in(query_of("canary-against-stable", 11), RANGE)).values()
    assert figure == said["safety_miss"]


def test_verdict_is_better_where_production_is_beside_itself(demonstration: Prometheus) -> None:
    """Canary and production change places."""
    expr = filled_in(query_of("canary-against-stable", 17, "A"), RANGE)
    turned = expr.replace('track!="production"', 'track!="canary"').replace(
        'track="production"', 'track="canary"'
    )
    said = by("rate", demonstration, turned)
    assert (said["safety_miss"], said["emotion_named"], said["continuation"]) == (2, 2, 0)


def test_verdicts_on_style(demonstration: Prometheus) -> None:
    expr = query_of("canary-against-stable", 31, "A")
    assert by("track", demonstration, filled_in(expr, {**RANGE, "$track": "staging"})) == {"staging": 0}
    assert by("track", demonstration, filled_in(expr, {**RANGE, "$track": "canary"})) == {"canary": 2}
    assert by("against", demonstration, filled_in(expr, {**RANGE, "$track": "production"})) == {
        "baseline": 1,
        "past": 1,
    }
    gravest = filled_in(query_of("canary-against-stable", 16), RANGE)
    assert by("", demonstration, gravest) == {"": 2}


def test_choice_of_a_release_narrows_what_is_tried_and_leaves_production(demonstration: Prometheus) -> None:
    chosen = {**RANGE, "$release": "companion-1.5"}
    for panel in (12, 13, 14, 15):
        expr = query_of("canary-against-stable", panel)
        assert by("", demonstration, filled_in(expr, chosen)), panel
    nobody = filled_in(query_of("canary-against-stable", 14), {**RANGE, "$release": "no-such"})
    assert demonstration.query(nobody) == []


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory):
    """A Prometheus that has never seen a worker."""
    with running(tmp_path_factory.mktemp("silent")) as started:
        yield started


@pytest.mark.parametrize(("where", "expr"), panel_queries(), ids=[where for where, _ in panel_queries()])
def test_silence_is_no_zero(silent: Prometheus, where: str, expr: str) -> None:
    assert silent.query(filled_in(expr, YOUNG)) == [], where
