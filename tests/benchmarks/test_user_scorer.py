"""What scoring costs beyond the encoder, what a judgement in context costs, and what comes out on held-out families."""

from __future__ import annotations

import os

import pytest

from detectors.context import contextual
from detectors.crisis import TrainedScorer
from detectors.crisis.calibration import load_calibration
from detectors.crisis.model import load_model
from detectors.crisis.reader import Reader
from detectors.evaluation.evaluate import evaluate
from detectors.fold import WINDOW, Unscored
from detectors.reply.remembered import RememberedReplies
from detectors.text import normalise, turn_windows
from detectors.training.sources import read_corpora
from detectors.turn import Role
from monitor.scoring import OneAtATime, Scoring
from tests.benchmarks.spent import Spent
from tests.support.scripted_scorers import ScriptedReplies

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(1800)]

TEXTS = 480
BATCH = 64
ASKED = 0.95  # of the bare engine's pace
JUDGEMENTS = 50


def held_out():
    """Single turns of every language, evenly over the families."""
    rows = [row for row in read_corpora() if row.held_out and row.single]
    return rows[:: max(1, len(rows) // TEXTS)][:TEXTS]


async def test_the_pace_of_the_scorer_against_the_bare_engine(engine):
    """The same windows through all three, batch by batch and turn about: a slow moment of the machine slows each.

    A worker reads one part for patterns while another is encoded; it is its pace that a backlog is drained at.
    """
    rows, scorer = held_out(), TrainedScorer(engine)
    scoring = Scoring(TrainedScorer(OneAtATime(engine)), ScriptedReplies())
    bare, alone, worker = Spent(), Spent(), Spent()
    for number, start in enumerate(range(0, len(rows), BATCH)):
        batch = rows[start : start + BATCH]
        texts, langs = [row.text for row in batch], [row.lang for row in batch]
        windows = [window.text for text in texts for window in turn_windows(normalise(text).text)]
        unscored = [Unscored(f"{n}", Role.USER, row.text, row.lang, None) for n, row in enumerate(batch)]
        for turn in range(3):
            if (turn + number) % 3 == 0:
                with bare:
                    engine.encode(windows)
            elif (turn + number) % 3 == 1:
                with alone:
                    scorer.score(texts, langs)
            else:
                with worker:
                    await scoring.score(unscored)
    scoring.close()
    print()
    for name, spent in (("bare engine", bare), ("scorer", alone), ("scorer in a worker", worker)):
        print(
            f"{name}: {1000 * spent.wall / len(rows):.2f} ms a text, {1000 * spent.cpu / len(rows):.2f} ms of CPU;"
            f" {bare.wall / spent.wall:.3f} of the engine's pace, a CPU second {bare.cpu / spent.cpu:.3f}"
        )
    print(f"load {os.getloadavg()[0]:.1f}")
    assert bare.wall / worker.wall >= ASKED


def test_one_judgement_in_context(engine):
    """A window is full; one more turn comes, or all of them are new to this worker."""
    texts = [row.text for row in held_out()[:WINDOW]]
    users = TrainedScorer(engine).score(texts, [None] * len(texts))
    replies = RememberedReplies(engine).score(texts, [None] * len(texts), [None] * len(texts))
    turns = [turn for pair in zip(users, replies, strict=True) for turn in pair]
    known, whole = Reader(load_model(), load_calibration()), Spent()
    one_more = Spent()
    for start in range(JUDGEMENTS):
        window = turns[start : start + WINDOW]
        contextual(window[:-2], known)
        with one_more:
            contextual(window, known)
        anew = Reader(load_model(), load_calibration())
        with whole:
            contextual(window, anew)
    print(
        f"\nin a window of {WINDOW}: one turn more {1000 * one_more.wall / JUDGEMENTS:.2f} ms, "
        f"all anew {1000 * whole.wall / JUDGEMENTS:.2f} ms"
    )
    assert one_more.wall < whole.wall
    assert one_more.wall / JUDGEMENTS < 0.01


def test_held_out_families(engine):
    found = evaluate(TrainedScorer(engine), RememberedReplies(engine), None, (), lambda *_: None)
    for name in ("own", "own/zh", "own/en", "own/context", "hidden"):
        one = found.measured[name]
        print(
            f"\n{name}: recall {one.recall.value:.3f} false alarms {one.false_alarms.value:.3f} "
            f"AUROC {one.auroc.value:.3f} level {one.exact_level.value:.3f}"
        )
    assert found.measured["own"].auroc.value > 0.75
