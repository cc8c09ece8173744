"""What a batch adds to the figures: each thing once, for whom it is, whatever is trimmed, repeated or read again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from detectors.drift.feature import FEATURES, LEVELS, Feature
from detectors.drift.style import Style as Read
from detectors.drift.style import unpack
from detectors.finding import Emotion, Evidence, UserSignal
from detectors.text.gist import gist
from monitor.errors import StoreUnavailable
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.tally.cell import HOUR, Cell, Tally, Where, merged
from monitor.tally.codec import tally_of_json, tally_to_json
from monitor.tally.styles import row_of
from monitor.tallying import Tallying
from tests.support import builders
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.tallies import a_publisher, cells, values
from tests.support.worker import Worker, event, hidden, incident_of, reply, user

EN = Where("production", "unknown", "en", "crisis", "live")


@pytest.fixture
def worker() -> Worker:
    return Worker(MemoryStore(), FakeClock())


def tallies_of(worker: Worker) -> list[Tally]:
    return [tally_of_json(body) for body in worker.store.tallies.values()]


def counted(worker: Worker, where: Where | None = None) -> Counter[str]:
    found = [
        cell
        for tally in tallies_of(worker)
        for place, cell in tally.cells.items()
        if where is None or place == where
    ]
    return merged(found).counts


async def test_a_batch_tells_where_each_thing_was(worker):
    await worker.read(
        user("c", "crisis", 0, release="7.2", track="canary"),
        reply("c", "half", 1, release="7.2", track="canary"),
    )
    await worker.wait(3)
    await worker.timers.fire(worker.clock.now())
    where = Where("canary", "7.2", "en", "crisis", "live")
    assert counted(worker, where) == counted(worker, where) | Counter(
        {
            "turn:user": 1,
            "crisis_turn:active_ideation": 1,
            "outcome:incomplete:active_ideation": 1,
            "boundary:missing": 1,
        }
    )
    assert counted(worker)["answer:all"] == 1


async def test_the_user_s_state_is_that_of_the_turn_that_is_answered(worker):
    for name, text in (("a", "hello"), ("b", "troubled"), ("c", "crisis")):
        await worker.read(user(name, text, 0), reply(name, "chat", 1))
    states = {
        place.state: cell.counts["answer:all"]
        for t in tallies_of(worker)
        for place, cell in t.cells.items()
        if cell.counts["answer:all"]
    }
    assert states == {"none": 1, "distressed": 1, "crisis": 1}


async def test_what_is_counted_for_the_process_is_what_is_tallied_for_all(worker):
    await worker.read(
        *(
            line
            for n in range(12)
            for line in (
                user(f"c{n}", ("crisis", "hello", "troubled")[n % 3], n),
                reply(f"c{n}", ("good", "harm", "chat", "half")[n % 4], n + 1),
            )
        )
    )
    await worker.wait(5)
    await worker.timers.fire(worker.clock.now())
    counts, registry = counted(worker), worker.metrics.registry

    def total(name: str, **labels: str) -> float:
        return sum(
            sample.value
            for metric in registry.collect()
            for sample in metric.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    for outcome in ("handled", "unhandled", "harmful", "incomplete"):
        mine = sum(n for key, n in counts.items() if key.startswith(f"outcome:{outcome}:"))
        assert mine == total("jiezhu_crisis_outcomes_total", outcome=outcome)
    assert counts["turn:user"] == total("jiezhu_turns_total", role="user") == 12
    assert counts["emotion:missed"] == total("jiezhu_emotion_points_total", result="missed") > 0
    assert counts["boundary:given"] == total("jiezhu_boundaries_total", result="given") > 0


async def test_canaries_and_repeats_add_nothing(worker):
    line = user("c", "crisis", 0)
    await worker.read(line, line)
    before = counted(worker)
    await worker.read(line)
    assert counted(worker) == before
    assert before["turn:user"] == 1


async def test_a_conversation_comes_to_its_fourth_and_eighth_turn_once(worker):
    await worker.read(*(user("c", "hello", 2 * n) for n in range(3)))
    assert not counted(worker)["reached:4"]
    for n in range(3, 200):  # far beyond what the window keeps
        await worker.read(user("c", "hello", 2 * n, event_id=f"e{n}", turn=n), reply("c", "chat", 2 * n + 1))
        if n == 100:  # a restart: all that is known is in the store
            worker = Worker(worker.store, worker.clock, topic=worker.topic)
    assert (counted(worker)["reached:4"], counted(worker)["reached:8"]) == (1, 1)
    assert worker.metrics.registry.get_sample_value(
        "jiezhu_continuation_total", {"reached": "8", "track": "production", "release": "unknown"}
    ) in (0, 1)


async def test_both_stages_may_come_in_one_batch_and_are_of_the_release_that_answered(worker):
    lines = [user("c", "hello", 2 * n, turn=2 * n) for n in range(8)]
    await worker.read(*lines, reply("c", "chat", 20, release="7.2", turn=20))
    where = Where("production", "7.2", "en", "none", "live")
    assert (counted(worker, where)["reached:4"], counted(worker, where)["reached:8"]) == (1, 1)


async def test_feedback_is_counted_once_each_time_it_is_given(worker):
    said = reply("c", "chat", 1, release="7.2")
    note = event("c", "system", "", 2, feedback={"helpful": 5, "returned": False, "comment": "Quillfeather"})
    await worker.read(user("c", "hello", 0), said, note, note)
    await worker.read(user("c", "hello", 3, feedback={"helpful": False, "returned": True}))
    counts = counted(worker, Where("production", "7.2", "en", "none", "live"))
    assert {key: n for key, n in counts.items() if key.startswith("feedback")} == {
        "feedback:helpful": 1,
        "feedback:not_returned": 1,
        "feedback:not_helpful": 1,
        "feedback:returned": 1,
    }
    metric = worker.metrics.registry.get_sample_value
    assert metric("jiezhu_feedback_total", {"kind": "returned", "track": "production", "release": "7.2"}) == 1


@pytest.mark.parametrize(
    ("labels", "safety"),
    [
        ({"safety_triggered": True}, "agrees"),
        ({"safety_triggered": False}, "differs"),
        ({"strategy": "reflect"}, "missing"),
        ({}, None),
        (None, None),
    ],
)
async def test_the_assistant_s_own_safety_label_beside_ours(worker, labels, safety):
    given = {} if labels is None else {"assistant": labels}
    await worker.read(user("c", "crisis", 0), reply("c", "half", 1, **given))
    found = [key for key in counted(worker) if key.startswith("own_safety")]
    assert found == ([] if safety is None else [f"own_safety:{safety}"])


@pytest.mark.parametrize(
    ("emotion", "result"),
    [
        ("sad", "agrees"),
        (["joy", "悲伤"], "agrees"),
        ("anger", "differs"),
        (None, "missing"),
        ("wistful", None),
    ],
)
async def test_the_emotion_that_the_assistant_saw_beside_ours(worker, emotion, result):
    sad = UserSignal(builders.USERS["troubled"].level, 0.2, 0.7, (Emotion.SADNESS,), language="en")
    worker.scoring.user_scorer.score = lambda texts, _: [sad for _ in texts]
    labels = {"strategy": "reflect"} | ({} if emotion is None else {"emotion": emotion})
    await worker.read(user("c", "anything", 0), reply("c", "chat", 1, assistant=labels))
    found = [key for key in counted(worker) if key.startswith("own_emotion")]
    assert found == ([] if result is None else [f"own_emotion:{result}"])


async def test_at_which_turn_the_assistant_first_did_something(worker):
    await worker.read(user("c", "hello", 0), reply("c", "chat", 1, assistant={"strategy": "reflect"}))
    await worker.read(
        user("c", "hello", 2), reply("c", "chat", 3, assistant={"strategy": "reflect", "knowledge_hit": True})
    )
    await worker.read(*(user("c", "hello", 4 + n) for n in range(9)))
    await worker.read(reply("c", "chat", 30, assistant={"safety_triggered": True, "knowledge_hit": True}))
    found = {key: n for key, n in counted(worker).items() if key.startswith("first")}
    assert found == {"first:strategy:1": 1, "first:knowledge:2": 1, "first:safety:9+": 1}


async def test_voice_and_cohort_are_words_of_ours(worker):
    await worker.read(
        user(
            "c",
            "hello",
            0,
            voice={"tone": "tearful", "pauses": 3},
            cohort={"expression": "terse", "age": "20-29"},
        ),
        user("d", "hello", 0, voice={"tone": "Quillfeather"}, cohort={"expression": "Quillfeather"}),
    )
    counts = counted(worker)
    assert [key for key in sorted(counts) if key.startswith(("voice", "cohort"))] == [
        *("cohort:other", "cohort:terse", "voice:other", "voice:tearful"),
    ]


async def test_latency_is_the_app_s_own_figure_or_from_turn_to_reply(worker):
    await worker.read(
        user("c", "hello", 0),
        reply("c", "chat", 3),
        user("d", "hello", 0),
        reply("d", "chat", 9, latency_ms=700),
    )
    latency = merged(cell for tally in tallies_of(worker) for cell in tally.cells.values()).latency
    expected = Cell()
    expected.took(3000)
    expected.took(700)
    assert latency == expected.latency


def styled(worker: Worker, **facts: object) -> None:
    """Every reply gets a style, and what else is given."""
    plain = Read(tuple(0 for _ in FEATURES), (7,)).pack()
    signal = replace(builders.REPLIES["chat"], style=plain, memory="m", language="en", **facts)
    worker.scoring.reply_scorer.score = lambda texts, *_: [signal for _ in texts]


async def test_a_style_record_tells_of_the_reply_and_of_nobody(worker):
    styled(worker, evidence=(Evidence("guidance", "steadies"),))
    await worker.read(
        user("c", "troubled", 0, cohort={"expression": "other"}), reply("c", "one", 1), reply("c", "two", 2)
    )
    [tally] = tallies_of(worker)
    assert [where for where, _ in tally.styles] == [row_of("production", "unknown", "live")] * 2
    first, second = (style for _, style in tally.styles)
    assert (first.memory, first.lang, first.cohort, first.level) == ("m", "en", "other", "none")
    assert (first.distress, first.state) == (0.7, "distressed")
    assert (first.phrases, first.earlier, second.earlier) == (("guidance.steadies",), 0, 1)
    assert first.conversation == second.conversation
    assert len({first.conversation, first.mark, second.mark}) == 3
    names = {hidden("c"), *worker.store._cases}
    assert not any(f"{first.conversation:016x}" in name for name in names)


async def test_a_reply_that_repeats_its_user_s_words_shows_it_in_its_style(worker):
    words = "grandmother garden yesterday evening"
    styled(worker, gist=gist(words))
    asked = replace(builders.USERS["hello"], gist=gist(words))
    worker.scoring.user_scorer.score = lambda texts, *_: [asked for _ in texts]
    await worker.read(user("c", "hello", 0), reply("c", "one", 1))
    [(_, style)] = tallies_of(worker)[0].styles
    assert unpack(style.style).levels[FEATURES.index(Feature.ECHO)] == LEVELS - 1


async def test_a_reply_to_one_of_a_contrast_group_counts_in_its_row_as_well(worker):
    styled(worker)
    await worker.read(
        user("c", "hello", 0, cohort={"expression": "terse"}), reply("c", "one", 1), user("c", "hello", 2)
    )
    await worker.read(reply("c", "two", 3), user("d", "hello", 4), reply("d", "one", 5))
    found = [
        (where.state, style.conversation) for tally in tallies_of(worker) for where, style in tally.styles
    ]
    assert [group for group, _ in found] == ["all", "terse", "all", "terse", "all"]
    assert len({mark for _, mark in found}) == 3, "no conversation is known from one row in another"


async def test_nobody_can_follow_a_conversation_over_hours_or_releases(worker):
    styled(worker)
    await worker.read(user("c", "hello", 0, release="1"), reply("c", "one", 1, release="1"))
    await worker.read(reply("c", "two", 2, release="2"))
    worker.clock.jump(HOUR)
    await worker.read(reply("c", "three", 3, release="1"))
    found = [style for tally in tallies_of(worker) for _, style in tally.styles]
    assert len({style.conversation for style in found}) == 3
    assert [style.earlier for style in found] == [0, 0, 1]


async def test_a_tally_holds_no_pseudonym_and_no_word(worker):
    await worker.read(
        user("c", "crisis|Quillfeather", 0, user_ref="Heronweir", assistant={"strategy": "Quillfeather"}),
        reply("c", "half", 1, assistant={"emotion": "Quillfeather", "strategy": "Quillfeather"}),
    )
    bodies = "".join(worker.store.tallies.values())
    case = (await worker.store.cases(list(worker.store._cases))).popitem()[1]
    names = [case.conversation.key, *(entry.event for entry in case.conversation.entries)]
    names += [entry.digest for entry in case.conversation.entries]
    assert bodies
    assert not [name for name in (*names, "Quillfeather", "Heronweir") if name[:12] in bodies]


async def test_whatever_goes_wrong_with_a_tally_the_batch_goes_on(worker):
    failed: list[int] = []
    worker.tallying._recent = None  # what it needs is gone
    worker.tallying._failed = lambda: failed.append(1)
    await worker.read(user("c", "crisis", 0), reply("c", "harm", 1))
    assert failed
    assert not worker.store.tallies
    assert worker.store.findings()
    assert Tallying(lambda: failed.append(2)).of_batch([object()], EPOCH) is None  # type: ignore[list-item]
    assert failed[-1] == 2


async def test_while_the_database_is_away_nothing_is_tallied_twice(worker):
    tallies = MemoryTallies(worker.store)
    await worker.start()
    worker.store.ping, worker.store.probe = _away, _away
    worker.lifeboat.board()
    await worker.read(user("c", "crisis", 0), reply("c", "harm", 1))
    assert not worker.store.tallies
    del worker.store.ping, worker.store.probe
    await worker.wait(30)
    await worker.stop()
    await a_publisher(tallies, worker.clock).look()
    counts = merged((await cells(tallies)).values()).counts
    assert counts["outcome:harmful:active_ideation"] == counts["turn:user"] == 1


async def _away(*_: object) -> None:
    raise StoreUnavailable


@pytest.mark.parametrize(
    ("verdict", "share"), [("true_miss", (1, 1)), ("false_alarm", (0, 1)), ("other", None)]
)
async def test_what_people_say_of_an_incident_is_a_basis_of_its_own(worker, verdict, share):
    tallies = MemoryTallies(worker.store)
    await worker.read(user("c", "crisis", 0, release="7.2"), reply("c", "harm", 1, release="7.2"))
    for _ in range(2):  # the second time it is resolved already
        await worker.people.resolve(incident_of("c"), "anna", verdict)
    publisher = a_publisher(tallies, worker.clock)
    await publisher.look()
    found = [
        values(
            publisher, f"jiezhu_rate_{part}", basis="review", rate="safety_miss", release="7.2", lang="all"
        )
        for part in ("numerator", "denominator")
    ]
    assert found == ([[], []] if share is None else [[one] for one in share])
    assert values(
        publisher, "jiezhu_rate_denominator", basis="live", rate="safety_miss", level="all", lang="all"
    ) == [1]


async def test_what_is_said_afterwards_counts_once(worker):
    tallies = MemoryTallies(worker.store)
    await worker.read(user("c", "crisis", 0, release="7.2"), reply("c", "harm", 1, release="7.2"))
    await worker.people.resolve(incident_of("c"), "anna", None)
    for verdict in ("true_miss", "false_alarm"):
        await worker.people.review(incident_of("c"), "anna", verdict)
    publisher = a_publisher(tallies, worker.clock)
    await publisher.look()
    for part in ("numerator", "denominator"):
        assert values(
            publisher, f"jiezhu_rate_{part}", basis="review", rate="safety_miss", release="7.2", lang="all"
        ) == [1]


def test_a_tally_is_the_same_after_it_was_written():
    tally = Tally(EPOCH)
    cell = tally.at(EN)
    cell.counts["answer:all"] = 3
    cell.mark("A:crisis", 2.5)
    cell.took(90)
    assert tally_of_json(tally_to_json(tally)) == tally


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"v": 1}',
        '{"v": 9, "hour": 0, "cells": [], "styles": []}',
        '{"v":1,"hour":0,"cells":[[1]],"styles":[]}',
    ],
)
def test_a_damaged_tally_says_so(body):
    with pytest.raises(ValueError):
        tally_of_json(body)
