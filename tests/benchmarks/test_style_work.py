"""What styles cost a worker that reads and publishes at once, as a share of what judging the same traffic costs it. One run."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from detectors.crisis import TrainedScorer
from detectors.fold import Unscored
from detectors.reply.encoded import EncodedReplyScorer
from detectors.training.replies import read_replies
from detectors.turn import Role
from monitor.assembly import PACE
from monitor.drift.folding import Folding
from monitor.drift.looking import DEEP, LOOK, Comparisons
from monitor.scoring import OneAtATime, Scoring
from monitor.store.baselines import Baseline
from monitor.styling import Styling
from monitor.tally.cell import hour_of
from tests.benchmarks.spent import Spent
from tests.support.style_weeks import KEEP, MONDAY, Weeks, stream
from tests.support.styles import Release
from tests.support.tallies import at_once

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(1800)]

TURNS = 15.0  # a second, half of them replies
REPLIES = 240
BATCH = 24
HOUR_LONG = 3_000  # replies of production that its open hour holds already
MOST = 0.02


async def test_what_styles_cost_beside_judging(engine):
    judging, reading = await _judged(engine)
    folding = _folded()
    looks, deep = await _looked()
    a_second = TURNS / 2 * reading + folding + looks / LOOK.total_seconds() + deep / DEEP.total_seconds()
    whole = TURNS / 2 * judging + a_second
    print(
        f"\na second at {TURNS:.0f} turns: judging {1000 * TURNS / 2 * judging:.1f} ms of CPU; styles {1000 * a_second:.2f} ms "
        f"= {a_second / whole:.2%} (reading {7500 * reading:.2f}, adding up {1000 * folding:.2f}, "
        f"looks {1000 * looks / LOOK.total_seconds():.2f}, p-values {1000 * deep / DEEP.total_seconds():.2f}); "
        f"load {os.getloadavg()[0]:.1f}",
        end="",
    )
    assert a_second <= MOST * whole


async def _judged(engine) -> tuple[float, float]:
    """CPU seconds for a user's turn and its reply, and of these for the style."""
    held = [one for one in read_replies() if one.held_out and one.text.strip()]
    rows = held[:: max(1, len(held) // REPLIES)][:REPLIES]
    encoder = OneAtATime(engine)
    scoring = Scoring(TrainedScorer(encoder), EncodedReplyScorer(encoder))
    styling, whole, style = Styling(b"k" * 32), Spent(), Spent()
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        asked = [Unscored(f"u{n}", Role.USER, row.asked, row.lang, None) for n, row in enumerate(batch)]
        said = [Unscored(f"r{n}", Role.ASSISTANT, row.text, row.lang, None) for n, row in enumerate(batch)]
        with whole:
            signals = scoring.score_now([*asked, *said])
        with style:
            styling.styled([row.text for row in batch], signals[len(batch) :])
    scoring.close()
    return whole.cpu / len(rows), style.cpu / len(rows)


def _folded() -> float:
    """CPU seconds a second: production's replies and a tenth as many of a canary, at the publisher's pace."""
    folding, spent, rounds = Folding(), Spent(), 20
    step = int(TURNS / 2 * PACE.total_seconds())
    production, canary = (stream(Release(), n, n, traced=True) for n in (HOUR_LONG + rounds * step, 4_000))
    open_hour, other = folding(None, production[:HOUR_LONG]), folding(None, canary[:300])
    with spent:
        for number in range(rounds):
            start = HOUR_LONG + number * step
            open_hour = folding(open_hour, production[start : start + step * 9 // 10])
            other = folding(other, canary[300 + number * step // 10 :][: step // 10])
    return spent.cpu / (rounds * PACE.total_seconds())


async def _looked() -> tuple[float, float]:
    """CPU seconds of a look at three comparisons, and of what p-values add, with days behind them."""
    weeks = Weeks()
    for number in range(8):
        weeks.clock.jump(MONDAY + timedelta(hours=20 * number) - weeks.clock.now())
        await weeks.say("production", "1.4", stream(Release(), 900, number, traced=True))
        await weeks.say("canary", "1.5", stream(Release(), 200, 100 + number, traced=True))
        await weeks.look()
    packed = Folding()(None, stream(Release(), 2_000, 99, traced=True))
    past = MONDAY - timedelta(days=1)
    for track in ("production", "canary"):
        await weeks.store.pin_baseline(Baseline(track, track, "1", past, past, past, {}, "", packed))
    comparisons = Comparisons(weeks.tallies, weeks.store, KEEP, aside=at_once)
    rows = await weeks.tallies.since(hour_of(weeks.clock.now()) - timedelta(hours=24))
    await comparisons.look(weeks.clock.now(), rows)
    plain, deep = Spent(), Spent()
    for _ in range(5):
        weeks.clock.jump(timedelta(minutes=1))
        with plain:
            await comparisons.look(weeks.clock.now(), rows)
    weeks.clock.jump(DEEP)
    with deep:
        await comparisons.look(weeks.clock.now(), rows)
    return plain.cpu / 5, deep.cpu - plain.cpu / 5
