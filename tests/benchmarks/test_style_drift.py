"""Style drift at length: false alarms of quiet weeks, planted changes found, and what it costs. ``ARGS="-k drift"`` runs it alone."""

from __future__ import annotations

import os
import statistics

import numpy as np
import pytest

from detectors.drift.compare import compare
from detectors.drift.packing import pack
from detectors.drift.sketch import StyleSketch
from detectors.drift.style import read_style
from detectors.reply.encoded import EncodedReplyScorer
from detectors.training.replies import read_replies
from tests.benchmarks.spent import Spent
from tests.support.drift_runs import ALIKE, PLANTED, alike, canned, planted, sketched
from tests.support.styles import CANNED, Release, draw, feed, replies_of

pytestmark = [pytest.mark.bench, pytest.mark.timeout(7200)]

WEEKS = 200
MINUTES = 7 * 24 * 60
MOST = 0.05  # of weeks
RUNS = 200
FOUND = 0.95
TURNS = 15  # a second
BUSY = 0.02  # of a worker's time


@pytest.mark.parametrize("pair", ALIKE)
def test_weeks_of_one_style(pair):
    """A look at every reply of the smaller group."""
    runs = alike(*ALIKE[pair], weeks=WEEKS, sizes=(2_000, 6_000), looks=2_000, seed=100)
    print(f"\n{pair}: {runs.ever} of {runs.runs} weeks alarmed {dict(runs.by)}")
    assert runs.ever <= MOST * WEEKS


def test_weeks_of_one_style_at_every_minute():
    """Features at each of the week's 10,080 minutes, meaning at every tenth."""
    runs = alike(
        Release(), Release(), weeks=WEEKS, sizes=(1_000, 5_000), looks=MINUTES, seed=101, traced=True
    )
    print(f"\nevery minute: {runs.ever} of {runs.runs} weeks alarmed {dict(runs.by)}")
    assert runs.ever <= MOST * WEEKS


def test_weeks_of_whole_verdicts():
    """Features, meaning, sentences and phrases through sketches; users of the two groups are unlike."""
    runs = sketched(
        Release(severity=0.45), Release(severity=0.25), weeks=WEEKS, sizes=(1_000, 2_000), looks=50
    )
    print(f"\nwhole verdicts: {runs.ever} of {runs.runs} weeks alarmed {dict(runs.by)}")
    assert runs.ever <= MOST * WEEKS


@pytest.mark.parametrize("likeness", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("against", [500, 5_000])
@pytest.mark.parametrize("change", PLANTED)
def test_planted_changes(change, against, likeness):
    """Held to the floor against 5,000 replies; against 500 only where replies are independent. The rest is printed."""
    feature, _ = PLANTED[change]
    found = planted(PLANTED[change], likeness, RUNS, against)
    others = found.share(*(name for name in found.by if name != feature.value))
    print(
        f"\n{change}, likeness {likeness}, 500 against {against:,}: found {found.share(feature.value):.3f}, "
        f"half of them by {statistics.median(found.at):.0f} replies; others named {others:.3f}"
    )
    assert others <= MOST
    if likeness < 0.3 and against == 5_000:
        assert found.share(feature.value) >= FOUND


@pytest.mark.parametrize(("share", "against"), [(0.2, 500), (0.2, 2_000), (0.1, 2_000)])
def test_a_canned_sentence(share, against):
    found = canned(share, 60, against)
    mine = f"{CANNED:010x}"
    print(
        f"\none sentence in {share:.0%}, 500 against {against:,}: found {found.share(mine):.3f}, "
        f"half by {statistics.median(found.at or [0]):.0f} replies; others {found.ever - found.by[mine]} of {found.runs}"
    )
    if share == 0.2:
        assert found.share(mine) >= FOUND


def test_what_a_sketch_costs():
    """Replies that are counted in a second, and one comparison a minute, at 15 turns a second of which half are replies."""
    rng = np.random.default_rng(1)
    replies = replies_of(draw(Release(), 4_000, rng, traced=True), rng)
    adding, looking, reading = Spent(), Spent(), Spent()
    with adding:
        sketch = feed(StyleSketch(), replies)
    for _ in range(20):
        with looking:
            compare(sketch, sketch)
    with reading:
        compare(sketch, sketch, chance=rng)
    busy = TURNS / 2 * adding.cpu / len(replies) + 2 * looking.cpu / 20 / 60
    print(
        f"\nadding {1e6 * adding.cpu / len(replies):.0f} us a reply, a look {1e3 * looking.cpu / 20:.1f} ms, with p-values "
        f"{1e3 * reading.cpu:.0f} ms, packed {len(pack(sketch)) / 1000:.0f} kB; busy {busy:.2%} at {TURNS} turns/s"
    )
    assert busy <= BUSY


@pytest.mark.model
def test_what_reading_a_style_adds_to_the_encoder(engine):
    held = [one for one in read_replies() if one.held_out and one.text.strip()]
    texts = [one.text for one in held[:: max(1, len(held) // 240)][:240]]
    signals = EncodedReplyScorer(engine).score(texts, [None] * len(texts), [None] * len(texts))
    bare, read = Spent(), Spent()
    for start in range(0, len(texts), 24):
        with bare:
            engine.encode(texts[start : start + 24])
        with read:
            packed = [
                read_style(text, signal).pack()
                for text, signal in zip(texts[start : start + 24], signals[start : start + 24], strict=True)
            ]
    print(
        f"\nstyle {1e6 * read.cpu / len(texts):.0f} us a reply, encoder {1e6 * bare.cpu / len(texts):.0f} us: "
        f"{read.cpu / bare.cpu:.1%}; {statistics.mean(map(len, packed)):.0f} characters; load {os.getloadavg()[0]:.1f}"
    )
    assert read.cpu <= 0.05 * bare.cpu
