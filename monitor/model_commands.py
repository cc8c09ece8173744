"""``jiezhu train`` and ``jiezhu evaluate``: the model's own commands, and what they print."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from detectors.crisis.calibration import load_calibration
from detectors.crisis.model import SHIPPED, load_model
from detectors.crisis.reader import Reader
from detectors.crisis.scorer import TrainedScorer
from detectors.encoder import load_engine, prepare
from detectors.encoder.acceptance import record
from detectors.encoder.cache import locate_cache
from detectors.evaluation.dialogues import Detection
from detectors.evaluation.evaluate import Evaluation, evaluate, evaluate_replies
from detectors.evaluation.floors import load_floors, shortfalls
from detectors.evaluation.keywords import KeywordScorer
from detectors.evaluation.metrics import Measured, Share
from detectors.evaluation.replies import MeasuredReplies, reply_rows
from detectors.reply.encoded import EncodedReplyScorer
from detectors.reply.heads import Heads
from detectors.reply.heads import read as read_heads
from detectors.reply.remembered import RememberedReplies
from detectors.training.replies import read_replies
from detectors.training.reply_heads import HEADS, name_of
from monitor.errors import JiezhuError
from monitor.settings import Encoder

MODEL = "jiezhu.safetensors"
CALIBRATION = "calibration.toml"
Report = Callable[[str, int, int, dict[str, float]], None]
_WIDEST = 400  # characters of a line
_LOSSES = ("crisis", "pairs", "level", "distress")


class Watching:
    """A bar a stage on a terminal; elsewhere a line a stage and every tenth part of it."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[losses]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[str, Any] = {}
        self._tenths: dict[str, int] = {}

    def __enter__(self) -> Report:
        self._bar.start()
        return self._report

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def _report(self, stage: str, done: int, total: int, losses: dict[str, float]) -> None:
        words = " ".join(f"{name} {losses[name]:.3f}" for name in _LOSSES if name in losses)
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total or None, losses="")
        self._bar.update(self._tasks[stage], completed=done, total=total or None, losses=words)
        tenth = 10 * done // total if total else 0
        if not self._console.is_terminal and self._tenths.get(stage) != tenth:
            self._tenths[stage] = tenth
            self._console.print(f"{stage}: {done} of {total} {words}".rstrip(), highlight=False)


def measure(
    settings: Encoder,
    files: Sequence[Path],
    model: Path | None,
    progress: Report,
    *,
    every: bool,
    keywords: bool,
) -> tuple[Evaluation, dict[str, Evaluation]]:
    """The trained model, shipped or of a directory, through the product's own path; and others beside it.

    Encoder weights on which the shipped model keeps its floors are accepted from then on.
    """
    if model and not (model / CALIBRATION).is_file():
        raise JiezhuError(
            f"there is no {CALIBRATION} in the directory {model.name}: give that of a finished training"
        )
    weights = (model / MODEL) if model else SHIPPED
    calibration = load_calibration(model / CALIBRATION) if model else load_calibration()
    prepared = prepare(
        settings.source,
        settings.cache_dir,
        lambda stage, done, total: progress(stage, done, total, {}),
        weights,
    )
    engine = load_engine(settings.engine, prepared, lanes=2)
    loaded = load_model(weights)
    found = evaluate(
        TrainedScorer(engine, loaded, calibration),
        RememberedReplies(engine, loaded),
        Reader(loaded, calibration),
        files,
        lambda done, total: progress("scoring", done, total, {}),
        every=every,
    )
    heads = _heads_of(model) if model else None
    scorer = EncodedReplyScorer(engine, heads, loaded)
    told = evaluate_replies(scorer, read_replies(), lambda done, total: progress("replies", done, total, {}))
    found = replace(found, replies=told)
    beside = {}
    if keywords:
        beside["keyword list"] = evaluate(KeywordScorer(), None, None, files, lambda *_: None, every=every)
    if model is None and not shortfalls(found, load_floors()):
        record(prepared, settings.cache_dir or locate_cache())
    return found, beside


def _heads_of(model: Path) -> Heads:
    """The heads of replies mean nothing to another encoder than theirs."""
    file = model / HEADS
    if not file.is_file():
        raise JiezhuError(
            f"there is no {HEADS} in the directory {model.name}: run `jiezhu fit-replies --model … --out …/{HEADS}`"
        )
    heads = read_heads(file)
    if heads.encoder != name_of(model / MODEL):
        raise JiezhuError(
            f"the {HEADS} in the directory {model.name} belongs to another model: run `jiezhu fit-replies`"
        )
    return heads


def fallen_short(evaluation: Evaluation) -> list[str]:
    """What falls short of the shipped floors, a line each."""
    return shortfalls(evaluation, load_floors())


def print_evaluation(evaluation: Evaluation, beside: dict[str, Evaluation], *, slices: bool) -> None:
    """Tables for people; ``beside`` are other scorers on the same rows. ``slices``: every slice, not only sets."""
    console = Console(width=_WIDEST)  # a figure is never cut, wherever it is read
    console.print(_sets_table(evaluation, beside, slices=slices))
    for name, one in evaluation.pairs.items():
        if one.of:
            console.print(f"{name}: both members of a minimal pair right {_share(one)}", highlight=False)
    if evaluation.replies:
        console.print(_replies_table(evaluation.replies))
    for name, found in evaluation.dialogues.items():
        console.print(_dialogue_line(name, found), highlight=False)


def _replies_table(found: dict[str, MeasuredReplies]) -> Table:
    table = Table(title="judged replies, held out by family; F1 of criteria and flags", title_justify="left")
    table.add_column("figure")
    for name in found:
        table.add_column(name, justify="right", no_wrap=True)
    for row in reply_rows(found):
        table.add_row(*row)
    return table


def _sets_table(evaluation: Evaluation, beside: dict[str, Evaluation], *, slices: bool) -> Table:
    table = Table(title="95 % intervals: Wilson; of AUROC bootstrap over families", title_justify="left")
    for column in (
        "set",
        "rows",
        "recall",
        "false alarms",
        "precision",
        "F1",
        "AUROC",
        "recall at 5 % f.a.",
        "level ±1",
        "ECE",
    ):
        table.add_column(column, justify="left" if column == "set" else "right", no_wrap=True)
    published = _published()
    for name, one in evaluation.measured.items():
        if "/" in name and not slices and name not in published:
            continue
        table.add_row(*_cells(name, one))
        for other, another in beside.items():
            if name in another.measured:
                table.add_row(*_cells(f"  {other}", another.measured[name]), style="dim")
        for figure in published.get(name, []):
            table.add_row(
                f"  {figure['method']}", "", _number(figure.get("recall")), _number(figure.get("false_alarms")),
                "", _number(figure.get("f1")), _number(figure.get("auroc")), "", "", "", style="dim",
            )  # fmt: skip
    return table


def _cells(name: str, one: Measured) -> tuple[str, ...]:
    return (
        name,
        str(one.rows),
        _share(one.recall),
        _share(one.false_alarms),
        _number(one.precision),
        _number(one.f1),
        _share(one.auroc),
        _number(one.recall_at_5),
        _share(one.within_one),
        _number(one.calibration_error),
    )


def _dialogue_line(name: str, found: Detection) -> str:
    later = "" if math.isnan(found.delay) else f", on average {found.delay:.1f} user turns later"
    parts = {
        "high and imminent personas found": found.found,
        "at or before a careful reader": found.in_time,
        "personas without risk flagged": found.flagged_calm,
        "dialogues a reader would let pass flagged": found.flagged_unread,
    }
    told = [f"{words} {_share(one) or 'none there'}" for words, one in parts.items()]
    told[1] += later
    return f"{name}: {'; '.join(told)}"


def _published() -> dict[str, list[dict[str, Any]]]:
    text = (resources.files("detectors") / "evaluation" / "figures.toml").read_text(encoding="utf-8")
    out: dict[str, list[dict[str, Any]]] = {}
    for figure in tomllib.loads(text)["figure"]:
        out.setdefault(figure["set"], []).append(figure)
    return out


def _share(one: Share) -> str:
    if not one.of or math.isnan(one.value):
        return ""
    return f"{one.value:.3f} ({one.low:.3f}–{one.high:.3f})"


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.3f}"
