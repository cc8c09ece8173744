"""One batch's way, over the store in memory and over SQLite."""

from __future__ import annotations

import pytest

from alerts.incident import State
from alerts.policy import Policy, Step
from detectors.finding import Level
from monitor.errors import PositionConflict
from monitor.store.memory import MemoryStore
from monitor.store.sql import SqlStore
from tests.support.away_store import AwayStore
from tests.support.builders import at
from tests.support.fake_clock import FakeClock
from tests.support.scripted_scorers import ScriptedScoring
from tests.support.stores import KEYRING
from tests.support.worker import PARTITION, Worker, hidden, incident_of, reply, user

AT_ONCE = Policy(steps=(Step(("first",)),), grace=at(0) - at(0))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request):
    if request.param == "memory":
        yield MemoryStore()
        return
    store = SqlStore(request.getfixturevalue("sqlite_url"), KEYRING)
    yield store
    await store.close()


@pytest.fixture
def worker(store, clock) -> Worker:
    return Worker(store, clock, policy=AT_ONCE)


async def claimed(worker: Worker):
    return await worker.store.claim(worker.clock.now(), at(15) - at(0), 100)


async def test_a_crisis_that_is_not_caught_pages(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 0.5))
    (note,) = await claimed(worker)
    assert (note.page.outcome, note.page.level) == ("unhandled", "active_ideation")
    assert note.page.dedup_key == incident_of("c")


async def test_an_empty_reply_is_a_reply_that_failed(worker):
    await worker.read(user("c", "crisis", 0))
    await worker.read(reply("c", "", 0.5))
    (note,) = await claimed(worker)
    assert note.page.outcome == "unhandled"


async def test_a_crisis_that_is_caught_pages_nobody(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "good", 0.5))
    assert await claimed(worker) == []
    assert (await worker.store.incident(incident_of("c"))).state is State.WATCHING


async def test_a_record_that_is_read_twice_is_left_out(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 0.5))
    done = await worker.pipeline.handle(worker.topic.records)
    assert done == {PARTITION: 2}, "or the source would ask for it for ever"
    assert len(worker.results) == 1


async def test_of_a_batch_that_was_read_in_part_the_rest_is_read(worker):
    await worker.read(user("c", "hello", 0))
    worker.topic.add(user("c", "crisis", 1), reply("c", "sleep tip", 2))
    assert await worker.pipeline.handle(worker.topic.records) == {PARTITION: 3}
    assert len(await claimed(worker)) == 1


async def test_poison_among_good_records_takes_no_neighbour_with_it(worker):
    await worker.read(b"{", user("c", "crisis", 0), None, b'{"at": NaN}', reply("c", "sleep tip", 0.5))
    assert [letter.reason for letter in worker.results[0].read.dead] == [
        "not_json",
        "null_body",
        "not_finite",
    ]
    assert worker.results[0].read.good == [False, True, False, False, True]
    assert len(await claimed(worker)) == 1
    assert await worker.store.positions([PARTITION]) == {PARTITION: 5}


async def test_a_batch_of_poison_alone_moves_the_position(worker):
    await worker.read(b"{", b"[]")
    assert await worker.store.positions([PARTITION]) == {PARTITION: 2}


async def test_each_conversation_keeps_its_order_whatever_stands_between(worker):
    await worker.read(
        user("a", "crisis", 0),
        user("b", "hello", 0),
        reply("b", "sleep tip", 0.2),
        reply("a", "good", 0.5),
        user("b", "crisis", 0.6),
        reply("b", "sleep tip", 0.8),
    )
    assert [note.page.incident for note in await claimed(worker)] == [incident_of("b")]


async def test_all_texts_of_a_batch_are_scored_in_one_call(worker):
    await worker.read(*(user(f"c{n}", "hello", n) for n in range(5)), reply("c1", "chat", 9))
    assert [len(call) for call in worker.scoring.user_scorer.calls] == [5]
    assert [len(call) for call in worker.scoring.reply_scorer.calls] == [1]


async def test_a_streamed_reply_is_judged_once_it_is_whole(worker):
    parts = [
        reply("c", text, 1 + n / 10, message_id="m", final=n == 2, turn=1, event_id=f"p{n}")
        for n, text in enumerate(["sl", "eep", " tip"])
    ]
    await worker.read(user("c", "crisis", 0, turn=0))
    for part in parts[:2]:
        await worker.read(part)
    assert worker.scoring.reply_scorer.calls == []
    assert await claimed(worker) == []
    await worker.read(parts[2])
    assert worker.scoring.reply_scorer.calls == [["sleep tip"]]
    assert len(await claimed(worker)) == 1


async def test_words_are_kept_only_for_an_open_incident(worker):
    await worker.read(user("c", "hello|at home", 0), reply("c", "chat|nice", 0.2))
    await worker.read(user("c", "crisis|at night", 1))
    await worker.read(reply("c", "sleep tip|tea", 1.5))
    kept = await worker.store.excerpts(incident_of("c"))
    assert [excerpt.text for excerpt in kept] == ["crisis|at night", "sleep tip|tea"]


async def test_words_go_when_the_episode_turns_out_handled(worker, clock):
    await worker.read(user("c", "crisis", 0), reply("c", "good", 0.5))
    assert len(await worker.store.excerpts(incident_of("c"))) == 2
    clock.jump(at(3600) - at(0))
    await worker.timers.fire(clock.now())
    assert (await worker.store.incident(incident_of("c"))).state is State.CLOSED
    assert await worker.store.excerpts(incident_of("c")) == []


async def test_findings_tell_crisis_turns_and_verdicts(clock):
    worker = Worker(store := MemoryStore(), clock, policy=AT_ONCE)
    await worker.read(user("c", "hello", 0), user("c", "crisis", 1), reply("c", "sleep tip", 1.5))
    turn, outcome = store.findings()
    assert (turn.kind, turn.level, turn.outcome) == ("turn", "active_ideation", None)
    assert (outcome.kind, outcome.outcome) == ("outcome", "unhandled")
    assert {row.incident for row in (turn, outcome)} == {incident_of("c")}


async def test_a_person_who_is_faster_makes_the_batch_decide_anew(clock):
    worker = Worker(store := AwayStore(), clock, policy=AT_ONCE)
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 0.5))
    store.before_commit = lambda: worker.people.acknowledge(incident_of("c"), "anna")
    before = len(worker.scoring.user_scorer.calls)
    await worker.read(user("c", "crisis", 2))
    incident = await store.incident(incident_of("c"))
    assert (incident.state, incident.crisis_turns) == (State.ACKNOWLEDGED, 2)
    assert len(worker.scoring.user_scorer.calls) == before + 1, "what was scored is not scored again"


async def test_a_batch_that_is_tried_again_counts_once(clock):
    worker = Worker(store := AwayStore(), clock, policy=AT_ONCE)
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 0.5))
    store.before_commit = lambda: worker.people.acknowledge(incident_of("c"), "anna")
    await worker.read(user("c", "crisis", 2))
    assert total(worker, "jiezhu_turns_total") == 3
    assert total(worker, "jiezhu_crisis_turns_total") == 2


async def test_a_zombie_writes_nothing(worker, store, clock):
    await worker.read(user("c", "hello", 0))
    zombie = Worker(store, clock, topic=worker.topic, policy=AT_ONCE)
    await zombie.join()
    await worker.read(user("c", "crisis", 1), reply("c", "sleep tip", 1.5))
    await claimed(worker)
    with pytest.raises(PositionConflict):
        await zombie.pipeline.handle(worker.topic.records[1:])
    assert zombie.results == []
    assert total(zombie, "jiezhu_fenced_batches_total") == 1
    assert total(worker, "jiezhu_fenced_batches_total") == 0


async def test_a_text_that_breaks_the_scorer_is_unscored_and_its_neighbours_are_not(worker):
    await worker.read(user("a", "breaks|on this", 0), user("b", "crisis", 0), reply("b", "sleep tip", 0.5))
    signals = {entry.event: signal for case in worker.results[0].cases for entry, signal in case.fresh}
    assert Level.UNSCORED in [getattr(signal, "level", None) for signal in signals.values()]
    assert len(await claimed(worker)) == 1
    assert total(worker, "jiezhu_scorer_failures_total") == 1
    assert total(worker, "jiezhu_unscored_turns_total") == 1


async def test_a_reply_that_breaks_the_judge_is_not_handled(worker):
    await worker.read(user("c", "crisis", 0), reply("c", "breaks|on this", 0.5))
    (note,) = await claimed(worker)
    assert note.page.outcome == "unhandled"


async def test_a_scorer_that_is_gone_makes_the_batch_wait(clock):
    scoring = ScriptedScoring()
    scoring.user_scorer.broken = True
    worker = Worker(store := MemoryStore(), clock, scoring=scoring, policy=AT_ONCE)
    with pytest.raises(RuntimeError, match="the scorer is broken"):
        await worker.read(user("c", "crisis", 0))
    assert await store.positions([PARTITION]) == {}
    scoring.user_scorer.broken = False
    await worker.pump()
    assert (await store.incident(incident_of("c"))).level is Level.ACTIVE_IDEATION


async def test_an_observer_that_fails_does_not_undo_what_is_written(clock):
    worker = Worker(store := MemoryStore(), clock, policy=AT_ONCE)
    worker.results = None  # the observer cannot append to it
    await worker.read(user("c", "hello", 0))
    assert await store.positions([PARTITION]) == {PARTITION: 1}
    assert worker.next == 1


async def test_each_stage_is_timed(worker):
    await worker.read(user("c", "hello", 0))
    counts = {
        sample.labels["stage"]: sample.value
        for family in worker.metrics.registry.collect()
        for sample in family.samples
        if sample.name == "jiezhu_batch_seconds_count"
    }
    assert counts == dict.fromkeys(("read", "load", "fold", "detect", "decide", "write"), 1)


async def test_a_user_message_that_streams_is_one_turn_and_one_crisis(worker):
    for n, text in enumerate(["cri", "sis", "|and more"]):
        await worker.read(user("c", text, n / 10, message_id="m", final=n == 2, turn=0, event_id=f"p{n}"))
    assert total(worker, "jiezhu_turns_total") == 1
    assert total(worker, "jiezhu_crisis_turns_total") == 1


async def test_no_raw_id_goes_further_than_the_reader(worker):
    await worker.read(user("conv-ersation", "crisis", 0, user_ref="u-ser", event_id="ev-ent"))
    case = (await worker.store.cases([hidden("conv-ersation")]))[hidden("conv-ersation")]
    for raw in ("conv-ersation", "u-ser", "ev-ent"):
        assert raw not in repr(case)
        assert raw not in repr(worker.results)


async def test_a_log_that_began_anew_is_read(worker, store):
    """Its records stand below the old position; what was read before is known by its event ids."""
    await worker.read(user("c", "hello", 0), user("c", "hello", 1))
    await worker.pipeline.began_anew(PARTITION, 0)
    worker.topic.records.clear()
    worker.next = 0
    await worker.read(user("d", "crisis", 2), reply("d", "sleep tip", 2.5), user("c", "hello", 1))
    assert len(await claimed(worker)) == 1
    assert await store.positions([PARTITION]) == {PARTITION: 3}
    assert total(worker, "jiezhu_repeated_turns_total") == 1


def total(worker: Worker, name: str) -> float:
    return sum(
        sample.value
        for family in worker.metrics.registry.collect()
        for sample in family.samples
        if sample.name == name
    )
