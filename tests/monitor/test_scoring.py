"""Texts are scored in one call; one that breaks the scorer stays by itself."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from detectors.finding import Level, Outcome, ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.reply.outcome import EVALUATION_FAILED, judge
from detectors.turn import Role
from monitor.scoring import OneAtATime, Scoring
from tests.support.scripted_scorers import ScriptedReplies, ScriptedScoring, ScriptedUsers


def said(role: Role, *texts: str) -> list[Unscored]:
    return [Unscored(f"e{n}", role, text, None, None) for n, text in enumerate(texts)]


def test_signals_come_in_the_order_of_the_texts():
    mixed = [
        *said(Role.USER, "crisis"),
        *said(Role.ASSISTANT, "good"),
        *said(Role.USER, "hello"),
        *said(Role.ASSISTANT, "harm"),
    ]
    found = ScriptedScoring().score_now(mixed)
    assert [type(signal) for signal in found] == [UserSignal, ReplySignal, UserSignal, ReplySignal]
    assert (found[0].level, found[2].level) == (Level.ACTIVE_IDEATION, Level.NONE)
    assert (found[1].refers, found[3].veto) == (True, True)


async def test_it_runs_in_a_thread_of_its_own():
    seen: list[int] = []

    class Users(ScriptedUsers):
        def score(self, texts, langs):
            seen.append(threading.get_ident())
            return super().score(texts, langs)

    scoring = Scoring(Users(), ScriptedReplies())
    await scoring.score(said(Role.USER, "hello"))
    await scoring.score(said(Role.USER, "crisis"))
    scoring.close()
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


async def test_users_and_replies_are_read_side_by_side():
    both = threading.Barrier(2, timeout=5)

    class Users(ScriptedUsers):
        def score(self, texts, langs):
            both.wait()
            return super().score(texts, langs)

    class Replies(ScriptedReplies):
        def score(self, texts, langs, regions):
            both.wait()
            return super().score(texts, langs, regions)

    scoring = Scoring(Users(), Replies())
    found = await scoring.score([*said(Role.ASSISTANT, "good"), *said(Role.USER, "crisis")])
    scoring.close()
    assert [type(signal) for signal in found] == [ReplySignal, UserSignal]
    assert scoring.failures == 0


def test_the_engine_takes_one_call_at_a_time():
    inside, most = [], []

    class Engine:
        dimension = 1

        def encode(self, texts):
            inside.append(texts)
            most.append(len(inside))
            threading.Event().wait(0.01)
            inside.pop()
            return np.zeros((len(texts), 1), dtype=np.float32)

    engine = OneAtATime(Engine())
    threads = [threading.Thread(target=engine.encode, args=(["hello"],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


async def test_nothing_to_score_asks_nobody():
    scoring = ScriptedScoring()
    assert await scoring.score([]) == []
    assert scoring.user_scorer.calls == []


def test_one_that_breaks_is_unscored_and_counted():
    scoring = ScriptedScoring()
    first, broken, last = scoring.score_now(said(Role.USER, "crisis", "breaks|x", "imminent"))
    assert (first.level, broken.level, last.level) == (
        Level.ACTIVE_IDEATION,
        Level.UNSCORED,
        Level.PLAN_INTENT,
    )
    assert scoring.failures == 1


def test_a_reply_that_breaks_is_unhandled_and_says_that_it_could_not_be_judged():
    good, broken = ScriptedScoring().score_now(said(Role.ASSISTANT, "good", "breaks|x"))
    assert (good.failed, broken.failed) == (False, True)
    handling = judge(broken, Level.PLAN_INTENT)
    assert (handling.outcome, handling.reason) == (Outcome.UNHANDLED, EVALUATION_FAILED)


def test_where_all_break_and_a_harmless_text_does_not_the_texts_are_at_fault():
    found = ScriptedScoring().score_now(said(Role.USER, "breaks|x", "breaks|y"))
    assert [signal.level for signal in found] == [Level.UNSCORED, Level.UNSCORED]


def test_a_scorer_that_is_broken_says_so_without_the_words():
    scoring = ScriptedScoring()
    scoring.user_scorer.broken = True
    with pytest.raises(RuntimeError, match=r"the scorer is broken \(OSError\)") as raised:
        scoring.score_now(said(Role.USER, "canary"))
    assert "canary" not in repr(raised.value)
