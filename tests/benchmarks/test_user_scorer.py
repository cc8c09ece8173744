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
from tests.detectors.crisis.test_sentences_beside import BESIDE_EN, BESIDE_ZH
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


class Heard:
    """The engine, and every text that it was asked for."""

    def __init__(self, engine):
        self.dimension, self._engine, self.texts = engine.dimension, engine, []

    def encode(self, texts):
        self.texts += texts
        return self._engine.encode(texts)


async def test_the_pace_of_the_scorer_against_the_bare_engine(engine):
    """The same windows through all three, batch by batch and turn about: a slow moment of the machine slows each.

    The windows are those that the scorer asks for, the sentences of doubtful turns among them; how many more they are than
    the turns' own is printed. These rows are written to be doubtful: of counselling dialogues it is 2 %.

    A worker reads one part for patterns while another is encoded; it is its pace that a backlog is drained at.
    """
    rows, scorer = held_out(), TrainedScorer(engine)
    scoring = Scoring(TrainedScorer(OneAtATime(engine)), ScriptedReplies())
    bare, alone, worker = Spent(), Spent(), Spent()
    whole = read = 0
    for number, start in enumerate(range(0, len(rows), BATCH)):
        batch = rows[start : start + BATCH]
        texts, langs = [row.text for row in batch], [row.lang for row in batch]
        heard = Heard(engine)
        TrainedScorer(heard).score(texts, langs)
        windows, read = heard.texts, read + len(heard.texts)
        whole += sum(len(turn_windows(normalise(text).text)) for text in texts)
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
    print(f"passes: {read / whole:.3f} of those of the turns as wholes; load {os.getloadavg()[0]:.1f}")
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


def test_a_harmless_sentence_beside_what_was_said(engine):
    """Held-out single turns in Chinese and English, by themselves and with one of four sentences after or before them."""
    rows = [row for row in read_corpora() if row.held_out and row.single and row.lang in ("zh", "en")]
    scorer, found = TrainedScorer(engine), {}
    for place in ("alone", "after", "before"):
        texts = []
        for number, row in enumerate(rows):
            other = (BESIDE_ZH if row.lang == "zh" else BESIDE_EN)[number % 4]
            ended = (
                row.text if row.text[-1] in ".。!?！？…~" else row.text + ("。" if row.lang == "zh" else ".")
            )
            pair = {"alone": [row.text], "after": [ended, other], "before": [other, row.text]}[place]
            texts.append(("" if row.lang == "zh" else " ").join(pair))
        flags = [one.level.crisis for one in scorer.score(texts, [row.lang for row in rows])]
        crises, others = (
            [flag for flag, row in zip(flags, rows, strict=True) if row.crisis is side]
            for side in (True, False)
        )
        found[place] = sum(crises) / len(crises)
        print(
            f"\n{place}: recall {found[place]:.3f} false alarms {sum(others) / len(others):.3f} of {len(rows)}"
        )
    assert min(found["after"], found["before"]) > found["alone"] - 0.15
