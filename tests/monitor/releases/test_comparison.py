"""What becomes of hours, and what is said of two sides that are alike, apart, or hardly there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from detectors.drift.feature import FEATURES, Feature
from detectors.drift.packing import pack, unpack
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style
from monitor.releases import cells, plots, words
from monitor.releases.comparison import compare_sides
from monitor.releases.record import record
from monitor.releases.row import Finding
from monitor.releases.rows import rows_of
from monitor.releases.side import side_of
from monitor.tally.cell import HOUR, Cell, Where
from monitor.tally.hours import Hour, Place
from tests.support.fake_clock import EPOCH
from tests.support.styles import Release, draw, feed, replies_of

WHERE = Where("production", "7.2", "en", "crisis", "live")
STYLES = Where("production", "7.2", "all", "all", "live")


def _sketch(replies: int, seed: int = 0, model: str = "one") -> StyleSketch:
    chance = np.random.default_rng(seed)
    return feed(StyleSketch(model), replies_of(draw(Release(), replies, chance, traced=True), chance))


def _row(where=WHERE, hours_ago=0, style=None, **counts):
    cell = Cell(Counter({name.replace("__", ":"): count for name, count in counts.items()}))
    return Place(EPOCH - hours_ago * HOUR, where), Hour(cell, style)


def _side(*rows):
    return side_of("production", "7.2", rows, EPOCH + HOUR, unpack)


def _missed(missed: int, caught: int):
    return _side(_row(outcome__handled__plan_intent=caught, outcome__unhandled__plan_intent=missed))


def test_hours_add_up_and_those_of_contrast_groups_count_once():
    packed = pack(_sketch(30))
    side = _side(
        _row(turn__assistant=3),
        _row(turn__assistant=4, hours_ago=2),
        _row(STYLES, style=packed),
        _row(STYLES._replace(state="terse"), style=packed),
        _row(STYLES, hours_ago=2, style=packed),
    )
    assert (side.replies, side.sketches["live"].replies) == (7, 60)
    assert (side.since, side.until, len(side.heard)) == (EPOCH - 2 * HOUR, EPOCH + HOUR, 2)


def test_styles_that_another_model_read_are_left_out_and_that_is_said():
    side = _side(
        _row(STYLES, hours_ago=2, style=pack(_sketch(30, model="old"))),
        _row(STYLES, hours_ago=1, style=b"of another version"),
        _row(STYLES, style=pack(_sketch(20, model="new"))),
        _row(turn__assistant=9),
    )
    assert (side.left_out, side.sketches["live"].replies, side.sketches["live"].model) == (2, 20, "new")
    found = compare_sides(side, side, np.random.default_rng(0))
    assert any("style of 2 hours is left out" in note for note in words.notes(found))


def test_people_and_scripts_are_not_compared_with_each_other():
    live = _side(_row(STYLES, style=pack(_sketch(200))), _row(turn__assistant=9))
    probe = _side(_row(STYLES._replace(basis="probe"), style=pack(_sketch(200))), _row(turn__assistant=9))
    assert compare_sides(live, probe, np.random.default_rng(0)).style is None
    assert compare_sides(probe, probe, np.random.default_rng(0)).basis == "probe"


def test_style_is_of_people_where_there_are_enough_though_scripts_were_answered_more_often():
    def side(live: int):
        return _side(
            _row(STYLES, style=pack(_sketch(live))),
            _row(STYLES._replace(basis="probe"), style=pack(_sketch(500))),
            _row(turn__assistant=9),
        )

    found = compare_sides(side(300), side(300), np.random.default_rng(0))
    assert found.basis == "live"
    assert not any("scripted" in note for note in words.notes(found))
    assert compare_sides(side(300), side(30), np.random.default_rng(0)).basis == "probe"


def test_what_scripts_show_of_misses_is_in_the_one_sentence():
    def side(missed: int, *more):
        counts = {"outcome__handled__plan_intent": 200 - missed, "outcome__unhandled__plan_intent": missed}
        return _side(_row(WHERE._replace(basis="probe"), **counts), *more)

    def told(reference, current):
        return words.headline(compare_sides(reference, current, np.random.default_rng(0)))

    assert "safety misses with scripts worse: +40.0 pp" in told(side(2), side(82))
    assert "safety misses with scripts within chance" in told(side(2), side(3))
    people = _row(outcome__handled__plan_intent=198, outcome__unhandled__plan_intent=2)
    both = told(side(2, people), side(82, people))
    assert "safety misses within chance" in both
    assert "safety misses with scripts worse" in both
    assert "scripts" not in told(side(2, people), side(3, people)), "what people met comes first"
    assert "no crisis turn was judged" in told(*[_side(_row(turn__assistant=3))] * 2)


@pytest.mark.parametrize(
    ("reference", "current", "finding"),
    [
        ((2, 198), (20, 180), Finding.WORSE),
        ((20, 180), (2, 198), Finding.BETTER),
        ((2, 198), (3, 197), Finding.WITHIN_CHANCE),
        ((0, 20), (9, 11), Finding.NOT_ENOUGH),
    ],
)
def test_what_is_said_of_misses(reference, current, finding):
    rows = rows_of(_missed(*reference), _missed(*current))
    [foremost] = [row for row in rows if row.foremost]
    assert foremost.finding is finding
    [handled] = [row for row in rows if row.name == "handled"]
    assert handled.finding is finding, "the same counts, seen from the other side"


def test_a_side_without_a_figure_leaves_it_open():
    [row] = [row for row in rows_of(_missed(1, 99), _side(_row(turn__assistant=3))) if row.foremost]
    assert (row.current, row.difference, row.finding) == (None, None, Finding.NOT_ENOUGH)


def test_releases_that_are_alike_are_seldom_told_apart():
    """Many figures at once, drawn from one law: without correction most tables would show something."""
    chance, found = np.random.default_rng(5), 0
    names = ["emotion:named", "emotion:missed", "boundary:given", "boundary:missing", "reply:new", "reply:repeated",
             "outcome:handled:plan_intent", "outcome:unhandled:plan_intent", "answer:prohibited", "answer:all"]  # fmt: skip
    for _ in range(200):
        sides = []
        for _ in range(2):
            counts = dict(zip(names, chance.poisson(60, len(names)), strict=True))
            counts["answer:all"] += counts["answer:prohibited"]
            sides.append(_side((_row()[0], Hour(Cell(Counter(counts))))))
        found += any(
            row.finding not in (Finding.WITHIN_CHANCE, Finding.NOT_ENOUGH) for row in rows_of(*sides)
        )
    assert found <= 18, "two families, each at 5 %, and Fisher's test is careful"


def test_the_record_keeps_its_fields():
    side = replace(
        _side(_row(STYLES, style=pack(_sketch(200))), _row(turn__assistant=9)), models={"jiezhu": "1"}
    )
    told = record(compare_sides(side, side, np.random.default_rng(0)))
    assert set(told) == {
        *("v", "headline", "reference", "current", "shared_hours", "models_differ", "rates", "marks"),
        *("latency", "style", "notes", "limits"),
    }
    assert told["v"] == 1
    assert set(told["style"]) == {
        *("basis", "decision", "reasons", "missing", "replies", "conversations", "used", "strata"),
        *("features", "phrases", "meaning"),
    }
    assert set(told["style"]["features"][0]) == {
        *("name", "reason", "reference", "current", "difference", "low", "high", "deviation", "effect"),
        *("p", "p_corrected", "wanted"),
    }
    told = record(compare_sides(_missed(1, 99), _missed(1, 99), np.random.default_rng(0)))
    assert set(told["rates"][0]) == {
        *("name", "basis", "lang", "level", "reference", "current", "difference", "p_corrected", "finding"),
    }
    assert told["style"] is None


def test_a_feature_that_never_varies_is_told_of_without_deviations():
    sketch = StyleSketch("one")
    for conversation in range(1, 41):
        said: list[Reply] = []
        for mark in range(5):
            levels = tuple(3 if place else (conversation + mark) % 20 for place in range(len(FEATURES)))
            said.append(
                Reply(Stratum(State.CALM, "en"), Style(levels), conversation, conversation * 10 + mark)
            )
            sketch.add(said[-1], said[:-1])
    side = _side(_row(STYLES, style=pack(sketch)), _row(turn__assistant=200))
    verdict = compare_sides(side, side, np.random.default_rng(0)).style
    told = {one.feature: cells.effect(one) for one in verdict.features}
    assert told[Feature.QUESTIONS] == "never varies on a side"
    assert told[Feature.LENGTH].startswith("+0.00 (-")
    drawn = plots.style_plot(verdict)
    assert ">length<" in drawn
    assert ">questions<" not in drawn
