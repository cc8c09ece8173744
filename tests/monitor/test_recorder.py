"""What the metrics are told: born at 0, bounded whatever comes, each thing once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from alerts.canary import Canary
from alerts.delivery import Answer, Attempt, Delivery, State
from alerts.page import Kind
from detectors.finding import CRISIS_LEVELS, MISSES
from monitor.metrics import PAIRS, Metrics
from monitor.recorder import Recorder
from monitor.store.memory import MemoryStore
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.pages import a_page
from tests.support.worker import Worker, reply, user

LEAST = timedelta(0)


@pytest.fixture
def worker() -> Worker:
    return Worker(MemoryStore(), FakeClock())


def series(metrics: Metrics, prefix: str = "jiezhu_") -> list[str]:
    lines = generate_latest(metrics.registry).decode().splitlines()
    return [line.rpartition(" ")[0] for line in lines if line.startswith(prefix)]


def value(worker: Worker, name: str, **labels: str) -> float | None:
    return worker.metrics.registry.get_sample_value(name, labels)


def test_every_miss_is_born_at_0():
    """``increase()`` does not see the first count of a series that was not there (R45)."""
    metrics = Metrics()
    for outcome in MISSES:
        for level in CRISIS_LEVELS:
            labels = {"outcome": outcome.value, "level": level.value, "track": "canary", "basis": "live"}
            assert metrics.registry.get_sample_value("jiezhu_safety_misses_total", labels) == 0


async def test_a_release_is_born_with_everything_that_can_page(worker):
    await worker.read(user("c", "hello", 0, release="7.2"))
    who = {"release": "7.2", "track": "production", "lang": "en", "basis": "live"}
    assert value(worker, "jiezhu_crisis_outcomes_total", outcome="unhandled", **who) == 0
    assert value(worker, "jiezhu_crisis_turns_total", level="plan_intent", **who) == 0


async def test_an_outcome_is_counted_where_it_was_born(worker):
    await worker.read(user("c", "crisis", 0, lang="en", release="7.2"), reply("c", "harm", 1, release="7.2"))
    who = {"release": "7.2", "track": "production", "lang": "en", "basis": "live"}
    assert value(worker, "jiezhu_crisis_turns_total", level="active_ideation", **who) == 1
    assert value(worker, "jiezhu_crisis_outcomes_total", outcome="harmful", **who) == 1
    miss = {"outcome": "harmful", "level": "active_ideation", "track": "production", "basis": "live"}
    assert value(worker, "jiezhu_safety_misses_total", **miss) == 1


async def test_labels_are_bounded_whatever_comes(worker):
    """500 releases, 50 languages, thousands of conversations."""
    await worker.read(*(user(f"c{n}", "crisis", n, release=f"r{n}", lang=f"q{n % 50}") for n in range(60)))
    few = len(series(worker.metrics))
    for part in range(10):
        await worker.read(
            *(
                line
                for n in range(part * 50, part * 50 + 50)
                for line in (
                    user(f"c{n}", "crisis", 60 + n, release=f"r{n}", lang=f"q{n % 50}", app=f"a{n}"),
                    reply(f"c{n}", "harm", 61 + n, release=f"r{n}", lang=f"q{n % 50}"),
                )
            )
        )
    await worker.read(*(user(f"d{n}", "hello", 700, user_ref=f"u{n}", release="r499") for n in range(2000)))
    releases = {name.partition('release="')[2].partition('"')[0] for name in series(worker.metrics)} - {""}
    assert len(releases) == PAIRS
    assert "r499" in releases
    many = series(worker.metrics)
    assert len(many) < few + PAIRS * 130, "a release has so many series, and no more"
    assert not [name for name in many if "q1" in name or 'app="' in name]


async def test_turns_are_counted_on_though_each_is_of_another_release(worker):
    """Else nothing that grows would tell that the app is in use."""
    where = {"track": "production", "basis": "live"}
    assert value(worker, "jiezhu_turns_read_total", **where) == 0
    await worker.read(*(user(f"c{n}", "hello", n, release=f"r{n}") for n in range(20)))
    assert value(worker, "jiezhu_turns_read_total", **where) == 20
    assert value(worker, "jiezhu_turns_read_total", **(where | {"basis": "probe"})) == 0


async def test_a_release_that_lost_its_place_is_gone_and_may_come_back(worker):
    await worker.read(user("c", "crisis", 0, release="old"))
    await worker.read(*(user(f"c{n}", "hello", n, release=f"r{n}") for n in range(20)))
    assert not [name for name in series(worker.metrics) if 'release="old"' in name]
    await worker.read(user("c", "crisis", 30, release="old"))
    who = {"release": "old", "track": "production", "lang": "en", "basis": "live"}
    assert value(worker, "jiezhu_crisis_turns_total", level="active_ideation", **who) == 1


async def test_dead_letters_and_repeats_are_counted(worker):
    line = user("c", "hello", 0, surprise=1)
    await worker.read(line, line, b"{", b"{")
    assert value(worker, "jiezhu_dead_letters_total", reason="not_json") == 2
    assert value(worker, "jiezhu_repeated_turns_total") == 1
    assert value(worker, "jiezhu_unknown_fields_total") == 2
    assert value(worker, "jiezhu_batch_records_sum") == 4


async def test_latency_is_the_first_reply_s(worker):
    await worker.read(user("c", "hello", 0), reply("c", "chat", 3), reply("c", "chat", 9))
    labels = {"track": "production", "release": "unknown"}
    assert value(worker, "jiezhu_reply_latency_seconds_count", **labels) == 1
    assert value(worker, "jiezhu_reply_latency_seconds_sum", **labels) == 3


async def test_an_emotion_point_is_missed_where_distress_is_not_named(worker):
    await worker.read(user("c", "troubled", 0), reply("c", "chat", 3), reply("c", "chat", 4))
    who = {"track": "production", "release": "unknown", "lang": "en", "basis": "live"}
    assert value(worker, "jiezhu_emotion_points_total", result="missed", **who) == 1


async def test_a_script_s_mark_decides_where_there_is_one_and_never_joins_our_estimates(worker):
    marked = {"script": "s", "expect": {"emotion": "fatigue"}}
    await worker.read(user("c", "hello", 0, probe=marked), reply("c", "chat", 3, probe={"script": "s"}))
    await worker.read(
        user("d", "troubled", 0, probe={"script": "s"}), reply("d", "chat", 3, probe={"script": "s"})
    )
    await worker.read(
        user("e", "troubled", 0, probe={"script": "s", "expect": {"emotion": False}}),
        reply("e", "chat", 3, probe={"script": "s"}),
    )
    who = {"track": "production", "release": "unknown", "lang": "en"}
    assert value(worker, "jiezhu_emotion_points_total", result="missed", basis="probe", **who) == 1
    assert not value(worker, "jiezhu_emotion_points_total", result="missed", basis="live", **who)


async def test_marks_of_both_scales_are_seen_once_a_reply(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "good", 3), reply("c", "chat", 4))
    where = {"track": "production", "release": "unknown"}
    assert value(worker, "jiezhu_scale_score_count", scale="A", dimension="crisis", **where) == 1
    assert value(worker, "jiezhu_scale_score_sum", scale="A", dimension="crisis", **where) == 4
    assert value(worker, "jiezhu_scale_score_sum", scale="B", dimension="safety", **where) == 5
    assert 1 <= value(worker, "jiezhu_scale_score_sum", scale="B", dimension="warmth", **where) <= 5


async def test_the_crisis_mark_is_only_seen_for_a_crisis(worker):
    await worker.read(user("c", "troubled", 0), reply("c", "chat", 3))
    where = {"track": "production", "release": "unknown"}
    assert value(worker, "jiezhu_scale_score_count", scale="A", dimension="empathy", **where) == 1
    assert not value(worker, "jiezhu_scale_score_count", scale="A", dimension="crisis", **where)


async def test_probes_count_apart(worker):
    await worker.read(user("c", "crisis", 0, probe={"script": "s"}), reply("c", "harm", 1))
    miss = {"outcome": "harmful", "level": "active_ideation", "track": "production"}
    assert value(worker, "jiezhu_safety_misses_total", basis="probe", **miss) == 1
    assert value(worker, "jiezhu_safety_misses_total", basis="live", **miss) == 0


@pytest.mark.parametrize(
    ("kind", "step", "counted"), [(Kind.PAGE, 0, 1), (Kind.PAGE, 1, 0), (Kind.TICKET, 0, 0)]
)
def test_the_time_to_a_page_is_that_of_first_pages(kind, step, counted):
    recorder = Recorder(metrics := Metrics())
    accepted = Delivery(("first",), State.ACCEPTED, accepted_at=EPOCH, accepted_by="first")
    recorder.sent(a_page(kind=kind, step=step), "first", Attempt(Answer.ACCEPTED, "http_202"), accepted, 0.3)
    assert metrics.registry.get_sample_value("jiezhu_detect_to_page_seconds_count") == counted
    sent = {"pager": "first", "state": "accepted", "reason": "http_202"}
    assert metrics.registry.get_sample_value("jiezhu_pages_total", sent) == 1


def test_a_partition_that_went_elsewhere_is_not_told_any_more():
    recorder = Recorder(metrics := Metrics())
    recorder.lag({("turns", 0): 3, ("turns", 1): 0})
    recorder.lag({("turns", 1): 5})
    assert series(metrics, "jiezhu_source_lag") == ['jiezhu_source_lag{partition="1"}']


def test_records_that_were_lost_are_counted_from_0_on():
    recorder = Recorder(metrics := Metrics())
    assert metrics.registry.get_sample_value("jiezhu_records_lost_total") == 0
    for so_far in (0, 5, 5, 7):
        recorder.lost(so_far)
    assert metrics.registry.get_sample_value("jiezhu_records_lost_total") == 7


def test_signs_of_life_are_of_parts_that_have_begun():
    recorder = Recorder(Metrics())
    recorder.timers_alive(EPOCH)
    assert recorder.signs_of_life(("timers", "heartbeat")) == {"timers": EPOCH}


def test_a_loop_goes_on_whatever_becomes_of_what_it_tells():
    """R45."""
    recorder = Recorder(metrics := Metrics())
    metrics.last_progress = None
    with capture_logs() as logs:
        recorder.alive("timers", EPOCH)
    assert [line["event"] for line in logs] == ["observer_failed"]
    assert recorder.signs_of_life(("timers",)) == {"timers": EPOCH}


def test_what_alerts_ask_of_the_parts_is_an_age_that_no_clock_stands_in():
    """Our time is not the one that Prometheus has: hours may lie between them."""
    clock = FakeClock()
    recorder = Recorder(metrics := Metrics(), clock.now)
    recorder.alive("timers", clock.now())
    recorder.canary_due(0, clock.now() + timedelta(seconds=30))
    recorder.canary_known(Canary(0, 0), clock.now())
    clock.jump(timedelta(seconds=70))
    ages = {
        name: metrics.registry.get_sample_value(f"jiezhu_{name}_seconds", labels)
        for name, labels in (
            ("last_progress_age", {"part": "timers"}),
            ("canary_overdue", {"partition": "0"}),
            ("canary_last_success_age", {"partition": "0"}),
        )
    }
    assert ages == {"last_progress_age": 70, "canary_overdue": 40, "canary_last_success_age": 70}


def test_the_database_counts_as_there_until_it_has_been_asked():
    """While the encoder is prepared nobody has; minutes of that must ring nobody."""
    assert Metrics().registry.get_sample_value("jiezhu_store_up") == 1


def test_of_an_encoder_nothing_is_said_before_there_is_one_or_it_failed():
    """Or each start would end the alert that none is there."""
    metrics = Metrics()
    assert series(metrics, "jiezhu_encoder_up") == []
    for up in (False, True):
        metrics.encoder_up.set(up)
        assert metrics.registry.get_sample_value("jiezhu_encoder_up") == up
