from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from detectors.finding import Cue, Emotion, Level
from detectors.training.losses import loss
from detectors.training.network import CONTEXT, HEADS, LEVELS
from tests.detectors.training.made import calm, example, risky

Outputs = dict[str, Tensor]


def outputs(count: int, crisis: list[float] | None = None) -> tuple[Outputs, Outputs]:
    """Logits by themselves and in context, zero unless given."""
    alone, whole = (
        {name: torch.zeros(count, size) for name, size in sizes.items()} for sizes in (HEADS, CONTEXT)
    )
    if crisis is not None:
        alone["crisis"] = torch.tensor(crisis)[:, None].clone()
        whole["crisis"] = alone["crisis"].clone()
    for one in (*alone.values(), *whole.values()):
        one.requires_grad_()
    return alone, whole


def taught(examples, crisis=None) -> tuple[float, dict[str, Tensor]]:
    """The loss, and the heads that it moves, as ``alone.crisis`` and the like."""
    alone, whole = outputs(len(examples), crisis)
    value, _ = loss(examples, alone, whole)
    if value.requires_grad:
        value.backward()
    named = {
        f"{where}.{name}": one.grad
        for where, heads in (("alone", alone), ("whole", whole))
        for name, one in heads.items()
    }
    return float(value.detach()), {
        name: grad for name, grad in named.items() if grad is not None and grad.abs().sum() > 0
    }


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
    assert set(moved) == {f"alone.{head}"}
    assert moved[f"alone.{head}"][1].abs().sum() == 0


@pytest.mark.parametrize(
    ("label", "head"),
    [
        ({"crisis": True}, "whole.crisis"),
        ({"level": Level.NONE}, "whole.level"),
        ({"distress": 4}, "whole.distress"),
        ({"trend": "rising"}, "whole.trend"),
        ({"by_itself": Level.NONE}, "alone.crisis"),
    ],
)
def test_in_a_conversation_labels_are_of_the_whole(label: dict[str, Any], head: str):
    assert set(taught([example("a", ">b", "c", **label)])[1]) == {head}


@pytest.mark.parametrize(
    "label",
    [{"emotions": frozenset({Emotion.JOY})}, {"cues": frozenset({Cue.BURDEN})}, {"kind": "everyday"}],
)
def test_in_a_conversation_these_say_nothing_of_the_last_turn(label: dict[str, Any]):
    assert taught([example("a", ">b", "c", **label)]) == (0, {})


def test_what_a_turn_says_by_itself_may_differ_from_the_whole():
    _, moved = taught([example("a", ">b", "fine", crisis=True, by_itself=Level.NONE)])
    assert moved["alone.crisis"] > 0  # descending lowers it
    assert moved["whole.crisis"] < 0


def pairs(examples, crisis: list[float]) -> float:
    return loss(examples, *outputs(len(examples), crisis))[1]["pairs"]


def test_the_risky_one_of_a_family_is_to_stand_above_the_other():
    pair = [risky("a"), calm("b")]
    assert pairs(pair, [9.0, 0.0]) < 0.01
    assert pairs(pair, [0.0, 0.0]) == pytest.approx(3.0, abs=0.1)
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
        alone, whole = outputs(1)
        logits = torch.zeros(1, len(LEVELS))
        logits[0, LEVELS.index(guess)] = 4.0
        return loss([example("a", level=Level.PLAN_INTENT)], alone | {"level": logits}, whole)[1]["level"]

    assert level(Level.PLAN_INTENT) < level(Level.PREPARATION) < level(Level.PASSIVE_IDEATION)


def test_weight_counts():
    def pull(weight: float) -> Tensor:
        _, moved = taught([risky("a", weight=weight), risky("b", group="g")])
        return moved["alone.crisis"][:, 0]

    light, heavy = pull(0.5), pull(2.0)
    assert light[0] == pytest.approx(float(light[1]) / 2)
    assert heavy[0] == pytest.approx(float(heavy[1]) * 2)


def test_being_right_costs_less_than_being_wrong():
    both = [risky("a"), calm("b", group="g")]
    assert taught(both, [5.0, -5.0])[0] < taught(both, [0.0, 0.0])[0] < taught(both, [-5.0, 5.0])[0]
