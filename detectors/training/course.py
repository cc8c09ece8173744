"""The course of a training run, and the run itself: resumable, seeded, the same bits for the same seed and machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from detectors.training.batches import TextTable, plan
from detectors.training.example import Example
from detectors.training.losses import loss
from detectors.training.network import Network
from detectors.training.states import LowerStates

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int, dict[str, float]], None]
"""Stage, done, total, running losses."""

CHECKPOINT: Final = "checkpoint.pt"
_SAVE_EVERY: Final = 200  # steps
_EASY: Final = 0.06  # a row this sure in one epoch rests every other epoch


@dataclass(frozen=True, slots=True)
class Course:
    """``rate`` of the upper layers, ``head_rate`` of what is new; the last ``averaged`` share of steps is averaged.

    ``reader_epochs`` of the reader of earlier turns, which is trained when the encoder is done.
    """

    epochs: int = 5
    rate: float = 1.5e-4
    head_rate: float = 1e-3
    decay: float = 0.01
    warm_up: float = 0.06
    averaged: float = 0.3
    reader_epochs: int = 20
    seed: int = 20260


@dataclass(slots=True)
class _Run:
    network: Network
    optimiser: torch.optim.Optimizer
    average: dict[str, torch.Tensor]
    averaged: int = 0
    step: int = 0
    epoch: int = 0
    done_in_epoch: int = 0
    chosen: list[int] = field(default_factory=list)  # rows of the epoch, fixed when it begins


def train(
    network: Network,
    examples: Sequence[Example],
    table: TextTable,
    states: LowerStates,
    course: Course,
    place: Path,
    progress: Progress,
    base: str = "",
) -> None:
    """Train ``network`` on single turns, in place; at the end it holds the mean of the last steps' weights.

    ``place`` keeps a checkpoint: started again with the same examples, course and ``base`` (weights and
    layers), the run goes on where it was.
    Raises ``ValueError`` when the checkpoint there belongs to another course.
    """
    known = {id(one) for one in network.upper.parameters()}
    body = [one for one in network.upper.parameters() if one.requires_grad]
    heads = [one for one in network.parameters() if id(one) not in known]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": course.rate}, {"params": heads, "lr": course.head_rate}],
        weight_decay=course.decay,
    )
    run = _Run(network, optimiser, {})
    sureness = np.ones(len(examples))
    signature = {**asdict(course), "examples": digest(examples), "base": base}
    _resume(run, sureness, place / CHECKPOINT, signature)
    per_epoch = len(plan(examples, table, states.lengths, course.seed))
    total = per_epoch * course.epochs
    losses: dict[str, float] = {}
    network.train()
    while run.epoch < course.epochs:
        if not run.done_in_epoch:
            run.chosen = choose(sureness, [one.group for one in examples], run.epoch)
        chosen = run.chosen
        batches = plan([examples[i] for i in chosen], table, states.lengths, course.seed + run.epoch)
        for number, batch in enumerate(batches):
            if number < run.done_in_epoch:
                continue
            torch.manual_seed(course.seed * 1_000_003 + run.step)
            share = (run.epoch + number / len(batches)) / course.epochs
            _set_rate(optimiser, course, share)
            rows = [chosen[i] for i in batch]
            some = [examples[i] for i in rows]
            told = network(*states.batch([table.last(one) for one in some]))
            value, parts = loss(some, told)
            optimiser.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]  # torch
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            _note(some, rows, told, sureness)
            if share >= 1 - course.averaged:
                _average(run)
            run.step += 1
            run.done_in_epoch = number + 1
            for name, part in parts.items():
                losses[name] = losses.get(name, part) * 0.98 + part * 0.02
            progress("train", int(share * total), total, losses)
            if run.step % _SAVE_EVERY == 0:
                _save(run, sureness, place / CHECKPOINT, signature)
        run.epoch, run.done_in_epoch = run.epoch + 1, 0
        _save(run, sureness, place / CHECKPOINT, signature)
    if run.average:
        network.load_state_dict(run.average)
    network.eval()
    progress("train", total, total, losses)


def digest(examples: Sequence[Example]) -> str:
    """Other rows, other labels or another order are another run."""
    whole = hashlib.sha256()
    for example in examples:
        # a set has another order in each process
        named = [sorted(names) if names is not None else None for names in (example.emotions, example.cues)]
        labels = replace(example, emotions=None, cues=None)
        whole.update(repr((labels, named, [one.text for one in example.turns])).encode())
    return whole.hexdigest()


def choose(sureness: Floats, groups: Sequence[str], epoch: int) -> list[int]:
    """Rows of an epoch: a family whose rows are all sure rests every other time (hard-negative mining).

    Families stay whole, so that a pair is always seen as a pair; nothing is repeated, because the rows that stay wrong
    are the mislabelled ones too. ``sureness`` is each row's distance from the truth when last seen, 1 before that.
    """
    families: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        families.setdefault(group, []).append(i)
    out: list[int] = []
    for number, rows in enumerate(families.values()):
        easy = epoch > 0 and all(sureness[i] < _EASY for i in rows)
        if not (easy and (number + epoch) % 2):
            out += rows
    return sorted(out)


def _note(
    some: Sequence[Example], rows: Sequence[int], told: Mapping[str, torch.Tensor], sureness: Floats
) -> None:
    chance = torch.sigmoid(told["crisis"].detach()[:, 0])
    for row, example, found in zip(rows, some, chance.tolist(), strict=True):
        if example.crisis is not None:
            sureness[row] = abs(found - float(example.crisis))


def _set_rate(optimiser: torch.optim.Optimizer, course: Course, share: float) -> None:
    rise = max(share, 1e-3) / course.warm_up
    fall = max(0.02, (1 - share) / (1 - course.warm_up))
    for group, rate in zip(optimiser.param_groups, (course.rate, course.head_rate), strict=True):
        group["lr"] = rate * min(rise, fall, 1.0)


def _average(run: _Run) -> None:
    run.averaged += 1
    with torch.no_grad():
        for name, value in run.network.state_dict().items():
            if name not in run.average:
                run.average[name] = value.clone()
            else:
                run.average[name] += (value - run.average[name]) / run.averaged


def _save(run: _Run, sureness: Floats, file: Path, signature: dict[str, Any]) -> None:
    beside = file.with_suffix(".part")
    torch.save(
        {
            "signature": signature,
            "network": run.network.state_dict(),
            "optimiser": run.optimiser.state_dict(),
            "average": run.average,
            "averaged": run.averaged,
            "step": run.step,
            "epoch": run.epoch,
            "done": run.done_in_epoch,
            "chosen": run.chosen,
            "sureness": torch.from_numpy(sureness.copy()),
        },
        beside,
    )
    beside.replace(file)


def _resume(run: _Run, sureness: Floats, file: Path, signature: dict[str, Any]) -> None:
    if not file.exists():
        return
    kept = torch.load(file, weights_only=True)
    if kept["signature"] != signature:
        raise ValueError("the directory holds a run of another course or other rows: name an empty one")
    run.network.load_state_dict(kept["network"])
    run.optimiser.load_state_dict(kept["optimiser"])
    run.average, run.averaged = kept["average"], kept["averaged"]
    run.step, run.epoch, run.done_in_epoch = kept["step"], kept["epoch"], kept["done"]
    run.chosen = kept["chosen"]
    sureness[:] = kept["sureness"].numpy()
