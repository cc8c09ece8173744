"""Scoring always answers, says when phrases alone did, and gets its engine back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from detectors.encoder import SourceError, WeightsError
from detectors.finding import Level, ReplySignal
from detectors.fold import Unscored
from detectors.turn import Role
from monitor.clock import SystemClock
from monitor.guard import Guard, Patience
from monitor.scoring import OneAtATime, Part, Scoring
from tests.support.moody import Mood, MoodyUsers, moody
from tests.support.scripted_scorers import ScriptedReplies, ScriptedUsers
from tests.support.until import until

PLAIN = "I want to kill myself"
QUICK = Patience(still=0.3, load=1.0, first=0.05, longest=0.1)


class Bench:
    """A guard whose engine has the mood that is set; ``loaded`` counts the engines."""

    def __init__(self) -> None:
        self.mood = Mood.WELL
        self.loaded = 0
        self.never = threading.Event()
        self.up: list[bool] = []
        self.guard = Guard(self._load, SystemClock(), patience=QUICK, up=self.up.append)

    def _load(self) -> Scoring:
        self.loaded += 1
        return moody(lambda: self.mood, self.never)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    made.never.set()
    await made.guard.close()


def said(*texts: str, role: Role = Role.USER) -> list[Unscored]:
    return [Unscored(f"e{n}", role, text, None, None) for n, text in enumerate(texts)]


async def test_while_the_engine_is_well_it_decides(bench):
    await bench.guard.start()
    crisis, calm = await bench.guard.score(said("crisis", "hello"))
    assert (crisis.level, calm.level) == (Level.ACTIVE_IDEATION, Level.NONE)
    assert not crisis.degraded
    assert (bench.guard.failures, bench.guard.well, bench.up) == (0, True, [True])


@pytest.mark.parametrize("mood", [Mood.HANGS, Mood.RAISES, Mood.NAN, Mood.MEMORY])
async def test_whatever_fails_plain_words_are_heard_and_the_rest_is_unscored(bench, mood):
    await bench.guard.start()
    bench.mood = mood
    for _ in range(2):
        plain, other = await bench.guard.score(said(PLAIN, "hello"))
        assert (plain.level, other.level) == (Level.ACTIVE_IDEATION, Level.UNSCORED)
        assert plain.degraded
        assert other.degraded
    assert bench.guard.failures == 2
    assert bench.up == [True, False]


@pytest.mark.parametrize("mood", [Mood.HANGS, Mood.RAISES, Mood.NAN, Mood.MEMORY])
async def test_it_comes_back_by_itself(bench, mood):
    await bench.guard.start()
    bench.mood = mood
    await bench.guard.score(said("hello"))
    bench.mood = Mood.WELL
    await until(lambda: bench.guard.well, 5)
    (crisis,) = await bench.guard.score(said("crisis"))
    assert not crisis.degraded
    assert bench.up == [True, False, True]


async def test_one_that_hangs_is_replaced_and_one_that_comes_round_is_kept(bench):
    await bench.guard.start()
    bench.mood = Mood.RAISES
    await bench.guard.score(said("hello"))
    bench.mood = Mood.WELL
    await until(lambda: bench.guard.well, 5)
    assert bench.loaded == 1
    bench.mood = Mood.HANGS
    await bench.guard.score(said("hello"))
    bench.mood = Mood.WELL
    await until(lambda: bench.guard.well, 5)
    assert bench.loaded == 2


async def test_engines_that_hang_are_not_piled_up_and_a_fresh_process_is_asked_for(bench):
    await bench.guard.start()
    bench.mood = Mood.HANGS
    await bench.guard.score(said("hello"))
    assert bench.guard.hanging_since is not None
    await asyncio.sleep(2.5)
    assert bench.loaded == 1 + QUICK.hanging
    assert (await bench.guard.score(said(PLAIN)))[0].degraded


async def test_hangs_that_passed_do_not_count_for_good(bench):
    await bench.guard.start()
    for number in range(QUICK.hanging + 3):
        bench.mood = Mood.HANGS
        assert (await bench.guard.score(said("hello")))[0].degraded
        bench.never.set()  # it passes
        bench.mood = Mood.WELL
        await until(lambda: bench.guard.well, 5)
        assert bench.loaded == number + 2
        bench.never.clear()


class NoThreads(Scoring):
    """As where the process may have no more of them. ``left``: so many times."""

    def __init__(self, left: list[int]) -> None:
        super().__init__(ScriptedUsers(), ScriptedReplies())
        self._left = left

    def begin(self, unscored: Sequence[Unscored]) -> list[Part]:
        if self._left[0]:
            self._left[0] -= 1
            raise RuntimeError("can't start new thread")
        return super().begin(unscored)


async def test_without_a_thread_to_be_had_it_answers_and_goes_on_trying():
    left = [0]
    guard = Guard(lambda: NoThreads(left), SystemClock(), patience=QUICK)
    await guard.start()
    left[0] = 5
    assert (await guard.score(said(PLAIN)))[0].degraded
    await until(lambda: guard.well, 5)
    assert left[0] == 0
    await guard.close()


async def test_trying_that_has_ended_however_it_did_begins_anew_with_the_next_turn(bench):
    await bench.guard.start()
    bench.mood = Mood.RAISES
    await bench.guard.score(said("hello"))
    mending = next(task for task in asyncio.all_tasks() if task.get_name() == "mending")
    mending.cancel()
    await asyncio.wait({mending})
    bench.mood = Mood.WELL
    await bench.guard.score(said("hello"))
    await until(lambda: bench.guard.well, 5)


async def test_what_a_hanging_engine_said_before_is_used():
    """Users' texts hang it, replies do not."""
    never, mood = threading.Event(), Mood.WELL
    users = MoodyUsers(lambda: mood, never)
    guard = Guard(lambda: Scoring(users, ScriptedReplies()), SystemClock(), patience=QUICK)
    await guard.start()
    mood = Mood.HANGS
    reply, user = await guard.score([*said("good", role=Role.ASSISTANT), *said("hello")])
    assert (reply.refers, reply.degraded) == (True, False)
    assert user.degraded
    never.set()
    await guard.close()


async def test_replies_are_judged_by_phrases_and_say_so(bench):
    await bench.guard.start()
    bench.mood = Mood.RAISES
    await bench.guard.score(said("hello"))
    found = await bench.guard.score(
        [*said("Just do it, nobody would miss you.", "", role=Role.ASSISTANT), *said(PLAIN)]
    )
    harm, empty = found[:2]
    assert isinstance(harm, ReplySignal)
    assert (harm.veto or bool(harm.harm), harm.degraded) == (True, True)
    assert isinstance(empty, ReplySignal)
    assert empty.empty


async def test_one_text_that_breaks_the_engine_is_read_for_phrases(bench):
    await bench.guard.start()
    broken, crisis = await bench.guard.score(said(f"breaks|{PLAIN}", "crisis"))
    assert (broken.level, broken.degraded) == (Level.ACTIVE_IDEATION, True)
    assert not crisis.degraded
    assert bench.guard.well


async def test_out_of_memory_while_loading_begins_without_an_engine(bench):
    bench.mood = Mood.MEMORY
    await bench.guard.start()
    assert (await bench.guard.score(said(PLAIN)))[0].level is Level.ACTIVE_IDEATION
    bench.mood = Mood.WELL
    await until(lambda: bench.guard.well, 5)


async def test_loading_that_takes_for_ever_is_not_waited_for_and_its_engine_is_used_when_it_comes():
    let = threading.Event()

    def load() -> Scoring:
        let.wait()
        return Scoring(ScriptedUsers(), ScriptedReplies())

    guard = Guard(load, SystemClock(), patience=Patience(still=0.3, load=0.2, first=0.05, longest=0.1))
    await guard.start()
    assert (await guard.score(said(PLAIN)))[0].degraded
    await until(lambda: guard.hanging_since is not None, 5)
    let.set()
    await until(lambda: guard.well, 5)
    assert guard.hanging_since is None
    await guard.close()


async def test_a_damaged_file_is_tried_again_and_a_wrong_setting_ends_the_start():
    async def started(error: Exception) -> Guard:
        def load() -> Scoring:
            raise error

        guard = Guard(load, SystemClock(), patience=QUICK)
        await guard.start()
        return guard

    guard = await started(WeightsError("delete it and prepare the encoder again"))
    assert not guard.well
    await guard.close()
    with pytest.raises(SourceError):
        await started(SourceError("no such directory"))


async def test_rows_of_the_engine_that_are_not_finite_are_a_failure():
    class Engine:
        dimension = 2

        def encode(self, texts):
            return np.full((len(texts), 2), np.nan, dtype=np.float32)

    with pytest.raises(ValueError, match="not finite"):
        OneAtATime(Engine()).encode(["hello"] * 20)


def test_the_engine_is_given_a_few_windows_at_a_time_and_the_rows_are_the_same():
    sizes: list[int] = []

    class Engine:
        dimension = 1

        def encode(self, texts):
            sizes.append(len(texts))
            return np.array([[float(text)] for text in texts], dtype=np.float32).reshape(-1, 1)

    rows = OneAtATime(Engine()).encode([str(n) for n in range(19)])
    assert rows[:, 0].tolist() == list(range(19))
    assert max(sizes) <= 8
    assert OneAtATime(Engine()).encode([]).shape == (0, 1)
