"""How many series one worker shows, whatever it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest
from prometheus_client import generate_latest

from detectors.drift.feature import Feature
from detectors.finding import CRISIS_LEVELS, Flag, Level, Outcome, ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.turn import Role, Track
from monitor.drift.folding import Folding
from monitor.drift.looking import Comparisons
from monitor.drift.plan import AT_ONCE, COHORTS_AT_ONCE
from monitor.figures import PAIRS, newest
from monitor.metrics import Metrics
from monitor.publisher import Publishing
from monitor.scoring import Scoring, Signal
from monitor.store.baselines import Baseline
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.work import Work
from monitor.tally.cell import HOUR, Cell, Tally, Where, hour_of
from monitor.tally.codec import tally_to_json
from monitor.tally.hours import OTHER, Hour, Place
from monitor.tally.hours import PAIRS as ROOM
from monitor.tally.styles import row_of
from tests.support.builders import REPLIES
from tests.support.fake_clock import EPOCH, FakeClock, settle
from tests.support.scripted_scorers import ScriptedReplies, ScriptedUsers
from tests.support.style_weeks import KEEP, stream
from tests.support.styles import Release
from tests.support.tallies import a_publisher, at_once
from tests.support.worker import Worker, reply, user

MOST = 5_000
STYLES = 1_400  # of these are for comparisons of styles at most
CONVERSATIONS, RELEASES, LANGUAGES = 10_000, 500, 50
SHORT = 1_000  # conversations that the short form reads


def series(metrics: Metrics) -> list[str]:
    lines = generate_latest(metrics.registry).decode().splitlines()
    return [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]


class _Scoring(Scoring):
    """Hears what the text names, in the language that it names; replies may show everything at once."""

    def __init__(self) -> None:
        super().__init__(ScriptedUsers(), ScriptedReplies())

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        return [self._signal(one) for one in unscored]

    @staticmethod
    def _signal(one: Unscored) -> Signal:
        if one.role is not Role.USER:
            return REPLIES.get(one.text, EVERYTHING)
        level, _, lang = one.text.partition(" in ")
        return UserSignal(Level(level), 0.9, 0.8, language=lang)


EVERYTHING = ReplySignal(risk_recognised=True, holds_feeling=True, flags=tuple(Flag))


@pytest.mark.parametrize("conversations", [SHORT, pytest.param(CONVERSATIONS, marks=pytest.mark.bench)])
async def test_one_worker_shows_five_thousand_series_at_most(conversations):
    """All that it counts and all that it publishes, with every word that there is."""
    store, clock, metrics = MemoryStore(), FakeClock(), Metrics()
    tallies = MemoryTallies(store)
    comparisons = Comparisons(tallies, store, KEEP, aside=at_once)
    publisher = a_publisher(tallies, clock, publishing=Publishing(more=comparisons))
    metrics.registry.register(publisher)
    worker = Worker(store, clock, metrics=metrics, scoring=_Scoring())
    tongues = ("zh", "en", "und", *(f"q{n}" for n in range(LANGUAGES - 3)))
    answers = ("good", "half", "cold", "sleep tip", "harm", "everything", "")
    levels = [*CRISIS_LEVELS, Level.NONE, Level.UNSCORED]
    tracks = list(Track)
    labels = ({"emotion": "sad", "safety_triggered": True}, {"safety_triggered": False}, {"strategy": "s"})
    for part in range(0, conversations, 100):
        lines = []
        for number in range(part, part + 100):
            # all releases come, and in the end the last ones often, so that each has seen everything
            release = f"r{number % RELEASES if number < conversations - RELEASES else RELEASES - 1 - number % PAIRS}"
            track = tracks[number % PAIRS % 3].value
            facts = {"track": track, "release": release, "lang": tongues[number % LANGUAGES]}
            if number // PAIRS % 3 == 0:
                facts["probe"] = {"script": "s", "expect": {"emotion": True}}
            said = f"{levels[number // PAIRS // 4 % len(levels)].value} in {(*tongues[:3], 'q1')[number // PAIRS % 4]}"
            seconds = number / 10
            for turn in range(8 if number // PAIRS % 5 == 1 else 1):
                lines.append(
                    user(f"c{number}", said, seconds + turn, feedback={"helpful": turn % 2 == 0}, **facts)
                )
                answer = answers[(number // PAIRS + turn) % len(answers)]
                lines.append(
                    reply(
                        f"c{number}",
                        answer,
                        seconds + turn + 0.5,
                        assistant=labels[number // PAIRS % 3],
                        **facts,
                    )
                )
        await worker.read(*lines)
    _fill_the_window(store)
    await publisher.look()
    await _fill_the_styles(store, tallies, metrics)
    clock.jump(timedelta(minutes=2))
    await publisher.look()
    await settle()
    shown = series(metrics)
    styles = [name for name in shown if name.startswith(("jiezhu_style_drift", "jiezhu_style_distance"))]
    assert {name.partition('against="')[2].partition('"')[0] for name in styles} >= {"stable", "baseline"}
    assert len({name for name in styles if name.startswith("jiezhu_style_drift_verdict{")}) == 3 * AT_ONCE
    assert len({name for name in styles if name.startswith("jiezhu_style_distance{")}) > COHORTS_AT_ONCE * 5
    assert len(styles) <= STYLES
    assert len({name for name in shown if name.startswith("jiezhu_rate{")}) > PAIRS * 40
    assert len(shown) <= MOST
    await worker.read(*(user(f"d{n}", "none in en", 9000, release="r499") for n in range(100)))
    assert len(series(metrics)) <= MOST


async def _fill_the_styles(store: MemoryStore, tallies: MemoryTallies, metrics: Metrics) -> None:
    """Sketches of every release that is shown, of contrast groups too, which differ in everything; and a baseline of each track."""
    pairs = {
        (sample.labels["track"], sample.labels["release"])
        for metric in metrics.registry.collect()
        for sample in metric.samples
        if sample.name == "jiezhu_rate"
    }
    assert len(pairs) == PAIRS
    usual, other = (
        Folding()(None, stream(release, 400, seed, traced=True))
        for seed, release in ((1, Release()), (2, Release().changed(Feature.QUESTIONS, 2)))
    )
    hour = hour_of(EPOCH)
    rows = {}
    for track, release in pairs:
        for group, packed in (("all", other), ("terse", usual), ("open", other)):
            rows[Place(hour, row_of(track, release, "live", group))] = Hour(Cell(), packed)
    for track in Track:
        rows[Place(hour, row_of("production", f"before-{track.value}", "live"))] = Hour(Cell(), usual)
        past = EPOCH - timedelta(days=9)
        baseline = Baseline(track.value, track.value, "1", past, past, past, {}, "", usual)
        await store.pin_baseline(baseline)
    assert await tallies.fold(1, [], rows)


def _fill_the_window(store: MemoryStore) -> None:
    """With every count that there is, of as many releases, languages and conversations as an hour may see."""
    for number in range(RELEASES):
        tally = Tally(hour_of(EPOCH))
        for lang in ("zh", "en", "und", "other"):
            for basis in ("live", "probe"):
                where = Where(list(Track)[number % 3].value, f"r{number}", lang, "crisis", basis)
                cell = tally.at(where)
                for level in CRISIS_LEVELS:
                    for outcome in Outcome:
                        cell.counts[f"outcome:{outcome.value}:{level.value}"] += CONVERSATIONS // RELEASES
                for name in (
                    *(
                        "answer:all",
                        "answer:benign",
                        "emotion:named",
                        "boundary:given",
                        "reached:4",
                        "reached:8",
                    ),
                    *(
                        "feedback:returned",
                        "feedback:helpful",
                        "own_emotion:agrees",
                        "own_safety:agrees",
                        "reply:new",
                    ),
                ):
                    cell.counts[name] += 3
                for dimension in ("emotion", "empathy", "reappraisal", "behaviour", "crisis"):
                    cell.mark(f"A:{dimension}", 3)
                for dimension in ("safety", "warmth"):
                    cell.mark(f"B:{dimension}", 3)
                cell.took(1000)
        store.tallies[100_000 + number] = tally_to_json(tally)


async def test_an_hour_keeps_so_many_releases_apart_and_loses_no_count():
    store, clock = MemoryStore(), FakeClock()
    tallies = MemoryTallies(store)
    for number in range(3 * ROOM):
        tally = Tally(hour_of(EPOCH))
        tally.at(Where("canary", f"r{number}", "en", "none", "live")).counts["answer:all"] = 1
        await store.commit(Work(tally=tally))
    publisher = a_publisher(tallies, clock)
    await publisher.look()
    rows = await tallies.since(hour_of(EPOCH))
    assert len(rows) == ROOM + 1
    assert sum(cell.counts["answer:all"] for _, cell in rows) == 3 * ROOM
    assert OTHER in {place.where.release for place, _ in rows}
    assert ("canary", OTHER) not in newest(rows)


async def test_an_hour_full_of_staging_keeps_what_people_talk_to_apart():
    store, clock = MemoryStore(), FakeClock()
    tallies = MemoryTallies(store)
    seen = [*(("staging", f"s{n}") for n in range(2 * ROOM)), ("canary", "new"), ("production", "old")]
    for track, release in seen:
        tally = Tally(hour_of(EPOCH))
        tally.at(Where(track, release, "en", "none", "live")).counts["answer:all"] = 1
        await store.commit(Work(tally=tally))
    await a_publisher(tallies, clock).look()
    kept = {(place.where.track, place.where.release) for place, _ in await tallies.since(hour_of(EPOCH))}
    assert {("canary", "new"), ("production", "old")} <= kept
    assert len(kept) == ROOM + 3, "and staging's others as one"


def test_no_track_hides_another():
    """Scripts go through many releases on staging; in a quiet hour nobody talks to production."""

    def row(track: str, release: str, ago: int, count: int) -> tuple[Place, Cell]:
        where = Where(track, release, "en", "none", "live")
        return Place(hour_of(EPOCH) - ago * HOUR, where), Cell(Counter({"answer:all": count}))

    rows = [
        *(row("staging", f"s{n}", 0, 500) for n in range(PAIRS)),
        row("production", "old", 2, 90),
        row("production", "older", 3, 900),
        row("canary", "new", 1, 9),
    ]
    shown = newest(rows)
    assert {("production", "old"), ("production", "older"), ("canary", "new")} <= set(shown)
    assert len(shown) == PAIRS


def test_the_newest_are_those_heard_of_last_and_then_most():
    def row(release: str, ago: int, count: int) -> tuple[Place, Cell]:
        cell = Cell()
        cell.counts["answer:all"] = count
        where = Where("production", release, "en", "none", "live")
        return Place(hour_of(EPOCH) - ago * HOUR, where), cell

    rows = [row("old", 5, 999), row("late", 0, 1), *(row(f"r{n}", 1, n + 1) for n in range(PAIRS))]
    shown = [release for _, release in newest(rows)]
    assert (shown[0], shown[1], len(shown)) == ("late", f"r{PAIRS - 1}", PAIRS)
    assert "old" not in shown
