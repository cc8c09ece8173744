"""What scoring costs beyond the encoder, what a judgement in context costs, and what comes out on held-out families."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import pytest

from detectors.context import contextual
from detectors.crisis import TrainedScorer
from detectors.crisis.calibration import load_calibration
from detectors.crisis.model import load_model
from detectors.crisis.reader import Reader
from detectors.evaluation.evaluate import evaluate
from detectors.fold import WINDOW
from detectors.reply.remembered import RememberedReplies
from detectors.text import normalise, turn_windows
from detectors.training.sources import read_corpora
from monitor.scoring import PART

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(1800)]

TEXTS = 480
ASKED = 0.95  # of the bare engine's pace
JUDGEMENTS = 50


@dataclass
class Spent:
    """Seconds by the clock on the wall and by that of the processor."""

    wall: float = 0.0
    cpu: float = 0.0

    def on(self, work):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        return found


def held_out():
    """Single turns of every language, evenly over the families."""
    rows = [row for row in read_corpora() if row.held_out and row.single]
    return rows[:: max(1, len(rows) // TEXTS)][:TEXTS]


def test_the_pace_of_the_scorer_against_the_bare_engine(engine):
    """The same windows through both, part by part and turn about: a slow moment of the machine slows both."""
    scorer, rows = TrainedScorer(engine), held_out()
    parts = [rows[start : start + PART] for start in range(0, len(rows), PART)]
    scorer.score([row.text for row in parts[0]], [row.lang for row in parts[0]])
    bare, ours = Spent(), Spent()
    for number, part in enumerate(parts):
        texts, langs = [row.text for row in part], [row.lang for row in part]
        windows = [window.text for text in texts for window in turn_windows(normalise(text).text)]
        work = [
            (bare, lambda windows=windows: engine.encode(windows)),
            (ours, lambda texts=texts, langs=langs: scorer.score(texts, langs)),
        ]
        for spent, run in work if number % 2 else reversed(work):
            spent.on(run)
    for name, spent in (("bare engine", bare), ("scorer", ours)):
        print(
            f"\n{name}: {1000 * spent.wall / len(rows):.2f} ms a text, {1000 * spent.cpu / len(rows):.2f} ms of CPU"
        )
    print(
        f"scorer / bare engine: {bare.wall / ours.wall:.3f}; a CPU second {bare.cpu / ours.cpu:.3f}; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    assert bare.wall / ours.wall >= ASKED


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
        one_more.on(lambda window=window: contextual(window, known))
        anew = Reader(load_model(), load_calibration())
        whole.on(lambda window=window, anew=anew: contextual(window, anew))
    print(
        f"\nin a window of {WINDOW}: one turn more {1000 * one_more.wall / JUDGEMENTS:.2f} ms, "
        f"all anew {1000 * whole.wall / JUDGEMENTS:.2f} ms"
    )
    assert one_more.wall < whole.wall
    assert whole.wall / JUDGEMENTS < 0.05


def test_held_out_families(engine):
    found = evaluate(TrainedScorer(engine), RememberedReplies(engine), None, (), lambda *_: None)
    for name in ("own", "own/zh", "own/en", "own/context", "hidden"):
        one = found.measured[name]
        print(
            f"\n{name}: recall {one.recall.value:.3f} false alarms {one.false_alarms.value:.3f} "
            f"AUROC {one.auroc.value:.3f} level {one.exact_level.value:.3f}"
        )
    assert found.measured["own"].auroc.value > 0.75
