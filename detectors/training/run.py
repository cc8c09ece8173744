"""``jiezhu train``: from corpora and weights to the file that ships and its calibration."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from detectors.crisis.calibration import Calibration, Line
from detectors.crisis.model import load_model
from detectors.crisis.reader import Reader
from detectors.crisis.scorer import TrainedScorer
from detectors.encoder import load_engine, prepare
from detectors.encoder.adapter import read_adapter
from detectors.encoder.prepare import prepare_reference
from detectors.encoder.reference import load_model as load_base
from detectors.evaluation.judge import judge
from detectors.evaluation.rows import Judged, row_of
from detectors.finding import CRISIS_LEVELS, Level
from detectors.reply.remembered import RememberedReplies
from detectors.training import artefact
from detectors.training.batches import TextTable
from detectors.training.calibrate import choose_thresholds, fit_lines, write
from detectors.training.course import Course, Progress, train
from detectors.training.example import Example
from detectors.training.gather import gather, spread
from detectors.training.lowrank import adapt, merge
from detectors.training.network import Network
from detectors.training.reader import ContextReader
from detectors.training.reading import train_reader, vectors_of
from detectors.training.reply_heads import HEADS, settle_heads
from detectors.training.sources import CORPORA
from detectors.training.start import blend, go_on_from
from detectors.training.states import LowerStates, lower_states

MODEL: Final = "jiezhu.safetensors"
CALIBRATION: Final = "calibration.toml"
FROZEN: Final = 2  # lower layers left as they are: with more, fewer pairs are told apart; with fewer, the file is too large


@dataclass(frozen=True, slots=True)
class Plan:
    """``work`` keeps what a broken-off run needs to go on; ``target`` gets the finished files."""

    data: tuple[Path, ...]
    work: Path
    target: Path
    course: Course
    source: str | Path
    cache: Path | None
    limit: int | None = None  # rows, for a trial
    frozen: int = FROZEN
    rank: int | None = None  # of low-rank adaptation; without it whole matrices are trained
    corpora: Path = CORPORA
    start: Path | None = None  # a trained model to go on from, instead of the base alone


def run(plan: Plan, progress: Progress) -> Path:
    """Train, calibrate and write. Returns the model's file. Blocking: hours on two cores.

    Raises ``ValueError`` when ``work`` holds another run, and what ``detectors.encoder.prepare`` raises.
    """
    plan.work.mkdir(mode=0o700, parents=True, exist_ok=True)  # states of a text give its words away
    plan.target.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    base = prepare_reference(
        plan.source, plan.cache, lambda stage, done, total: progress(stage, done, total, {})
    )
    rows = gather(plan.data, plan.corpora)
    learn, calibrate = spread(rows.learn, plan.limit), spread(rows.calibrate, plan.limit)
    (plan.work / "course.json").write_text(json.dumps(asdict(plan.course)), encoding="utf-8")
    model = load_base(base.directory)
    bert: Any = model[0].model
    table = TextTable(learn)
    states = _states(model, table, plan, base.weights, progress)
    torch.manual_seed(plan.course.seed)
    network = Network(bert.encoder.layer[plan.frozen :], bert.config.hidden_size)
    before = {name: one.detach().numpy().copy() for name, one in network.upper.named_parameters()}
    begun = go_on_from(plan.start, bert, network, plan.frozen) if plan.start else {}
    if plan.rank:
        adapt(network.upper, plan.rank)
    start = (
        f"{base.weights} {plan.frozen} {plan.rank} {read_adapter(plan.start).digest if plan.start else ''}"
    )
    alone = [one for row in learn if (one := row.alone())]
    train(network, alone, table, states, plan.course, plan.work, progress, start)
    merge(network.upper)
    blend(network, begun)
    vectors = vectors_of(network, states, progress)
    torch.manual_seed(plan.course.seed)  # a run that was resumed has drawn other numbers until here
    reader = ContextReader(bert.config.hidden_size)
    train_reader(reader, network, learn, table, vectors, plan.course, progress)
    file = plan.work / MODEL
    languages = sorted({row.lang.partition("-")[0] for row in learn if row.kind})
    bank = artefact.bank_of(reader, learn, table, vectors)
    artefact.write(file, network, reader, before, plan.frozen, base.weights, bank, languages)
    settle(file, calibrate, plan, progress, languages)
    settle_heads(file, plan.source, plan.cache, plan.work / HEADS, progress, plan.limit)
    for name in (MODEL, CALIBRATION, HEADS):
        shutil.copyfile(plan.work / name, plan.target / name)
    return plan.target / MODEL


def _states(model: Any, table: TextTable, plan: Plan, weights: str, progress: Progress) -> LowerStates:
    """Computed once a run: minutes that a broken-off one need not spend again."""
    what = [weights, str(plan.frozen), str(table.limits), *table.texts]
    name = hashlib.sha256("\0".join(what).encode()).hexdigest()
    mark = plan.work / "texts.sha256"
    if mark.exists() and mark.read_text(encoding="utf-8") == name:
        return LowerStates.load(plan.work)
    mark.unlink(missing_ok=True)
    states = lower_states(
        model,
        table.texts,
        table.limits,
        plan.frozen,
        lambda done, total: progress("lower layers", done, total, {}),
    )
    states.save(plan.work)
    mark.write_text(name, encoding="utf-8")
    return states


def settle(
    file: Path, rows: Sequence[Example], plan: Plan, progress: Progress, languages: Sequence[str]
) -> None:
    """Score the rows kept for it as the product will, and write the calibration beside the model."""
    prepared = prepare(
        plan.source, plan.cache, lambda stage, done, total: progress(stage, done, total, {}), adapter=file
    )
    engine = load_engine("int8", prepared, lanes=2)
    model = load_model(file)
    plain = _plain(languages)
    known = [row for row in rows if row.crisis is not None]
    single = [row for row in known if row.single]
    others = [row for row in known if not row.single]

    def scored(some: Sequence[Example], name: str) -> list[Judged]:
        return judge(
            [row_of(replace(row, source=name), name) for row in some],
            TrainedScorer(engine, model, plain),
            RememberedReplies(engine, model),
            Reader(model, plain),
            lambda done, total: progress(name, done, total, {}),
        )

    alone, context = scored(single, "calibrate"), scored(others, "calibrate in context")
    lines = [_lines(found) for found in (alone, context)]
    chances = [_chances(found, line) for found, line in zip((alone, context), lines, strict=True)]
    judged = [*alone, *context]
    hard = np.array([_is_hard(row) for row in (*single, *others)])
    thresholds = choose_thresholds(
        np.concatenate(chances)[hard],
        [_likeliest(one) for one, counts in zip(judged, hard, strict=True) if counts],
        np.array([bool(one.row.crisis) for one in judged])[hard],
    )
    write(plan.work / CALIBRATION, lines[0], lines[1], thresholds, languages)


def _is_hard(row: Example) -> bool:
    """The ordinary turns of long talks would let every threshold sink: they belong to the lines, not to the rate."""
    return row.single or row.kind is not None


def _plain(languages: Sequence[str]) -> Calibration:
    """Every turn gets a crisis level and the logit's own chance: what is to be calibrated."""
    line = {"other": Line(1.0, 0.0)}
    return Calibration(line, line, dict.fromkeys(CRISIS_LEVELS, 0.0), 0.0, frozenset(languages))


def _logit(judged: Sequence[Judged]) -> NDArray[np.float64]:
    chance = np.clip([one.signal.score for one in judged], 1e-4, 1 - 1e-4)
    return np.asarray(np.log(chance / (1 - chance)), dtype=np.float64)


def _lines(judged: Sequence[Judged]) -> dict[str, Line]:
    langs = [one.signal.language for one in judged]  # as the scorer will tell it
    return fit_lines(_logit(judged), np.array([bool(one.row.crisis) for one in judged]), langs)


def _chances(judged: Sequence[Judged], lines: dict[str, Line]) -> NDArray[np.float64]:
    return np.array(
        [
            lines.get(one.signal.language, lines["other"])(logit)
            for one, logit in zip(judged, _logit(judged), strict=True)
        ]
    )


def _likeliest(one: Judged) -> Level:
    return one.signal.level
