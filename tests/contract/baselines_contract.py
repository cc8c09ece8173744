"""What every store of baselines must do."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from detectors.drift.packing import pack, unpack
from detectors.drift.sketch import StyleSketch
from monitor.baselines import Baseline
from monitor.tally.cell import HOUR, Tally, Where, hour_of
from monitor.tally.codec import tally_of_json, tally_to_json
from tests.support.cases import NOW
from tests.support.styles import Release, draw, sketch_of

HERE = Where("production", "7.2", "en", "crisis", "live")


def a_tally() -> Tally:
    tally = Tally(hour_of(NOW) - HOUR)
    tally.at(HERE).counts["outcome:handled:plan_intent"] = 3
    tally.at(HERE).mark("A:crisis", 3.5)
    tally.at(HERE).took(1200)
    return tally


def a_sketch() -> StyleSketch:
    chance = np.random.default_rng(7)
    return sketch_of(draw(Release(), 60, chance, traced=True), chance)


def a_baseline(name: str = "spring", release: str = "7.2", minutes: int = 0) -> Baseline:
    return Baseline(
        name,
        "production",
        release,
        NOW + timedelta(minutes=minutes),
        hour_of(NOW) - HOUR,
        hour_of(NOW),
        {"jiezhu": "0.1.0", "encoder": "abc"},
        tally_to_json(a_tally()),
        pack(a_sketch()),
    )


class BaselinesContract:
    """Give a fixture ``store``."""

    async def test_nothing_is_pinned_at_first(self, store):
        assert await store.baselines() == []

    async def test_a_baseline_comes_back_as_it_was_pinned(self, store):
        assert await store.pin_baseline(a_baseline())
        [found] = await store.baselines()
        assert found == a_baseline()
        assert tally_of_json(found.figures) == a_tally()
        assert pack(unpack(found.sketch)) == pack(a_sketch())

    async def test_a_name_is_pinned_once_and_what_stands_stays(self, store):
        assert await store.pin_baseline(a_baseline())
        assert not await store.pin_baseline(a_baseline(release="9.9", minutes=5))
        assert await store.baselines() == [a_baseline()]

    async def test_whose_replies_it_is_of_comes_back_where_it_was_written_down(self, store):
        for name, basis in (("before", None), ("now", "probe")):
            assert await store.pin_baseline(replace(a_baseline(name), basis=basis))
        assert {one.name: one.basis for one in await store.baselines()} == {"before": None, "now": "probe"}

    async def test_the_newest_pin_comes_first(self, store):
        for name, minutes in (("b", 1), ("c", 0), ("a", 2)):
            assert await store.pin_baseline(a_baseline(name, minutes=minutes))
        assert [one.name for one in await store.baselines()] == ["a", "b", "c"]

    async def test_neither_retention_nor_a_name_that_cannot_be_written_hurts(self, store):
        odd = replace(a_baseline(), name="spr'ing; 春天", release="7.2 %s [bold]")
        assert await store.pin_baseline(odd)
        await store.expire(NOW + timedelta(days=10_000))
        assert await store.baselines() == [odd]

    async def test_its_repr_is_short(self, store):
        assert await store.pin_baseline(a_baseline())
        assert "figures" not in repr(await store.baselines())
