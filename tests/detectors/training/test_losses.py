from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from detectors.finding import Cue, Emotion, Level
from detectors.training.losses import loss
from detectors.training.network import HEADS, LEVELS
from detectors.training.reader import CONTEXT
from tests.detectors.training.made import calm, example, risky

Outputs = dict[str, Tensor]


def outputs(count: int, crisis: list[float] | None = None, sizes: dict[str, int] = HEADS) -> Outputs:
    """Logits, zero unless given."""
    told = {name: torch.zeros(count, size) for name, size in sizes.items()}
    if crisis is not None:
        told["crisis"] = torch.tensor(crisis)[:, None].clone()
    for one in told.values():
        one.requires_grad_()
    return told


def taught(examples, crisis=None, sizes: dict[str, int] = HEADS) -> tuple[float, Outputs]:
    """The loss, and the heads that it moves."""
    told = outputs(len(examples), crisis, sizes)
    value, _ = loss(examples, told)
    value.backward()
    moved = {
        name: one.grad for name, one in told.items() if one.grad is not None and one.grad.abs().sum() > 0
    }
    return float(value.detach()), moved


def test_unknown_labels_teach_nothing():
    value, moved = taught([example("a"), example("b", ">c", "d", group="g")])
    assert value == 0
    assert moved == {}


@pytest.mark.parametrize(
    ("label", "head"),
    [
        ({"crisis": True}, "crisis"),
        ({"level": Level.NONE}, "level"),
        ({"distress": 0}, "distress"),
        ({"emotions": frozenset()}, "emotions"),
        ({"cues": frozenset({Cue.MASKING})}, "cues"),
        ({"kind": "everyday"}, "kind"),
    ],
)
def test_a_known_label_teaches_its_own_head_in_its_own_row(label: dict[str, Any], head: str):
    value, moved = taught([example("a", **label), example("b", group="g")])
    assert value > 0
    assert set(moved) == {head}
    assert moved[head][1].abs().sum() == 0


@pytest.mark.parametrize(
    ("label", "head"),
    [
        ({"crisis": True}, "crisis"),
        ({"level": Level.NONE}, "level"),
        ({"distress": 4}, "distress"),
        ({"trend": "rising"}, "trend"),
    ],
)
def test_the_reader_has_no_other_heads_to_teach(label: dict[str, Any], head: str):
    labels = {"emotions": frozenset({Emotion.JOY}), "kind": "everyday"} | label
    assert set(taught([example("a", ">b", "c", **labels)], sizes=CONTEXT)[1]) == {head}


def pairs(examples, crisis: list[float]) -> float:
    return loss(examples, outputs(len(examples), crisis))[1]["pairs"]


def test_the_risky_one_of_a_family_is_to_stand_above_the_other():
    pair = [risky("a"), calm("b")]
    assert pairs(pair, [9.0, 0.0]) < 0.01
    assert pairs(pair, [0.0, 0.0]) == pytest.approx(
        3.05 / 12, abs=0.01
    )  # one family of a usual batch's twelve
    assert pairs(pair, [0.0, 0.0]) > 20 * pairs(pair, [9.0, 0.0])
    assert pairs(pair, [-2.0, 2.0]) > pairs(pair, [1.0, 0.0]) > pairs(pair, [9.0, 0.0])
    # together higher or lower is all the same
    assert pairs(pair, [5.0, 4.0]) == pytest.approx(pairs(pair, [0.0, -1.0]))


@pytest.mark.parametrize(
    "others",
    [
        [risky("a"), calm("b", group="g")],
        [risky("a"), risky("b")],
        [calm("a"), calm("b")],
        [risky("a"), example("b")],
    ],
)
def test_only_a_family_with_both_sides_makes_a_pair(others):
    assert pairs(others, [0.0, 0.0]) == 0


def test_a_single_turn_and_one_in_context_make_a_pair():
    assert pairs([risky("x", ">y", "a"), calm("a")], [0.0, 0.0]) > 0


def test_a_neighbouring_level_is_less_wrong():
    def level(guess: Level) -> float:
        logits = torch.zeros(1, len(LEVELS))
        logits[0, LEVELS.index(guess)] = 4.0
        return loss([example("a", level=Level.PLAN_INTENT)], outputs(1) | {"level": logits})[1]["level"]

    assert level(Level.PLAN_INTENT) < level(Level.PREPARATION) < level(Level.PASSIVE_IDEATION)


def test_weight_counts():
    def pull(weight: float) -> Tensor:
        _, moved = taught([risky("a", weight=weight), risky("b", group="g")])
        return moved["crisis"][:, 0]

    light, heavy = pull(0.5), pull(2.0)
    assert light[0] == pytest.approx(float(light[1]) / 2)
    assert heavy[0] == pytest.approx(float(heavy[1]) * 2)


def test_turns_of_one_dialogue_are_no_pair():
    assert pairs([risky("a", kind=None), calm("b", kind=None)], [0.0, 0.0]) == 0


def test_a_row_of_a_small_batch_pulls_as_much_as_one_of_a_large_one():
    one = [risky("a")]
    many = [risky("a"), *(calm(f"b{n}", group=f"g{n}") for n in range(9))]
    assert taught(one)[1]["crisis"][0] == pytest.approx(float(taught(many)[1]["crisis"][0]))


def test_being_right_costs_less_than_being_wrong():
    both = [risky("a"), calm("b", group="g")]
    assert taught(both, [5.0, -5.0])[0] < taught(both, [0.0, 0.0])[0] < taught(both, [-5.0, 5.0])[0]
