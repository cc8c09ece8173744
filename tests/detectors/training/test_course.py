from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from detectors.training.batches import TOKENS, TextTable
from detectors.training.course import CHECKPOINT, Course, choose, train
from detectors.training.network import Network
from tests.detectors.training.made import WIDTH, calm, risky, states

COURSE = Course(epochs=3, seed=5)
STEPS_KEPT = 200  # a checkpoint within an epoch

Weights = dict[str, torch.Tensor]


class BrokenOffError(Exception):
    """The machine went down."""


def upper(seed: int) -> nn.ModuleList:
    """A stand-in for the encoder's upper layers, with a chance of its own in training."""

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.line = nn.Linear(WIDTH, WIDTH)
            self.dropout = nn.Dropout(0.1)

        def forward(self, rows: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            return rows + self.dropout(torch.tanh(self.line(rows)))

    torch.manual_seed(seed)
    return nn.ModuleList([Layer()])


def rows(families: int = 12):
    out = []
    for n in range(families):
        out += [risky(f"risky {n}", group=f"f{n}"), calm(f"calm {n}", group=f"f{n}")]
    return out


def go(
    place: Path, course: Course = COURSE, *, examples=None, length: int = 150, stop: int | None = None, seed=1
) -> tuple[Weights, list[tuple[float, Weights]]]:
    """Train until the end, or break off after ``stop`` steps. The weights, and each step's share and weights."""
    examples = rows() if examples is None else examples
    table = TextTable(examples)
    network = Network(upper(seed), WIDTH)
    steps: list[tuple[float, Weights]] = []

    def watch(stage: str, done: int, total: int, losses: dict[str, float]) -> None:
        steps.append((done / total, {name: one.clone() for name, one in network.state_dict().items()}))
        if len(steps) == stop:
            raise BrokenOffError

    place.mkdir(exist_ok=True)
    train(network, examples, table, states([length] * len(table.texts)), course, place, watch)
    assert not network.training
    return dict(network.state_dict()), steps[:-1]  # the last word is of the end, not of a step


def same(one: Weights, other: Weights) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_the_same_seed_gives_the_same_weights_and_another_others(tmp_path):
    one, _ = go(tmp_path / "a")
    assert same(one, go(tmp_path / "b")[0])
    assert not same(one, go(tmp_path / "c", Course(epochs=3, seed=6))[0])


@pytest.mark.parametrize(
    ("stop", "kept"), [(2, 0), (5, 3)], ids=["before a checkpoint", "in the second epoch"]
)
def test_broken_off_and_resumed_it_is_as_if_run_through(tmp_path, stop, kept):
    through, steps = go(tmp_path / "through")
    with pytest.raises(BrokenOffError):
        go(tmp_path / "broken", stop=stop)
    again, rest = go(tmp_path / "broken")
    assert same(through, again)
    assert len(rest) == len(steps) - kept


def test_broken_off_within_an_epoch_it_goes_on_there(tmp_path):
    course = Course(epochs=2, seed=2, averaged=0.6)
    one_a_batch: dict[str, Any] = {"course": course, "examples": rows(60), "length": TOKENS // 2 + 1}
    through, steps = go(tmp_path / "through", **one_a_batch)
    assert len(steps) > STEPS_KEPT + 10
    with pytest.raises(BrokenOffError):
        go(tmp_path / "broken", **one_a_batch, stop=STEPS_KEPT + 10)
    # other weights to begin with: all that counts is in the checkpoint
    again, rest = go(tmp_path / "broken", **one_a_batch, seed=9)
    assert same(through, again)
    assert len(rest) == len(steps) - STEPS_KEPT


def test_a_finished_course_is_not_run_again(tmp_path):
    through, _ = go(tmp_path)
    again, steps = go(tmp_path, seed=9)
    assert same(through, again)
    assert steps == []


@pytest.mark.parametrize(
    "other",
    [{"course": Course(epochs=4, seed=5)}, {"course": Course(3, rate=1e-3, seed=5)}, {"examples": rows(5)}],
)
def test_another_course_in_the_directory_is_refused(tmp_path, other):
    go(tmp_path)
    kept = (tmp_path / CHECKPOINT).read_bytes()
    with pytest.raises(ValueError, match="name an empty one"):
        go(tmp_path, **other)
    assert (tmp_path / CHECKPOINT).read_bytes() == kept


def test_families_that_are_sure_rest_every_other_time_and_stay_whole():
    sureness = np.array([0.9, 0.01, 0.01, 0.02, 0.03, 0.01])
    groups = ["hard", "hard", "easy", "easy", "easy too", "easy too"]
    assert choose(sureness, groups, 0) == list(range(6))
    assert choose(sureness, groups, 1) == [0, 1, 2, 3]
    assert choose(sureness, groups, 2) == [0, 1, 4, 5]


def test_rows_never_seen_come_every_time():
    assert choose(np.ones(2), ["a", "b"], 1) == [0, 1]


@pytest.mark.parametrize("averaged", [0.5, 1.0])
def test_the_last_steps_are_averaged(tmp_path, averaged):
    found, steps = go(tmp_path, Course(epochs=4, seed=5, averaged=averaged))
    last = [weights for share, weights in steps if share >= 1 - averaged]
    assert (len(last) < len(steps)) is (averaged < 1)
    for name, one in found.items():
        assert torch.allclose(one, torch.stack([step[name] for step in last]).mean(0), atol=1e-6)


def test_without_averaging_the_last_step_counts(tmp_path):
    found, steps = go(tmp_path, Course(epochs=2, averaged=0.0))
    assert same(found, steps[-1][1])


def test_it_learns(tmp_path):
    examples = rows()
    table = TextTable(examples)
    lower = states([30] * len(table.texts))
    network = Network(upper(1), WIDTH)
    course = Course(epochs=60, seed=3, rate=1e-2, head_rate=1e-2)
    train(network, examples, table, lower, course, tmp_path, lambda *_: None)
    with torch.inference_mode():
        told = network(*lower.batch([table.last(one) for one in examples]))
    assert [bool(logit > 0) for logit in told["crisis"]] == [one.crisis for one in examples]


def test_another_process_knows_the_rows_again():
    """A run is gone on with on the same rows only, and the order of a set differs from process to process."""
    script = (
        "from detectors.finding import Cue, Emotion\n"
        "from detectors.training.course import digest\n"
        "from tests.detectors.training.made import risky\n"
        "print(digest([risky('天要塌了', emotions=frozenset(Emotion), cues=frozenset(Cue))]))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert len(found.pop().strip()) == 64
