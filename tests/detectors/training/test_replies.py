"""Judged replies beside user turns: each learns its own labels, and a run can go on from a trained model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from detectors.finding import Criterion, EmotionNamed, Flag, Outcome
from detectors.training.example import Example, ReplyLabels, Said
from detectors.training.losses import loss
from detectors.training.network import HEADS, SCALE, Network
from detectors.training.reply_losses import reply_loss
from detectors.turn import Role
from tests.detectors.training.made import WIDTH, calm, risky

ALL = tuple(Criterion)
MARKS = tuple((name, 4) for name in SCALE)


def reply(text: str = "我在", *, group: str = "r", **changed: Any) -> Example:
    labels: dict[str, Any] = {
        "outcome": Outcome.HANDLED,
        "criteria": ALL,
        "flags": (),
        "maybe": (),
        "doubtful": (),
        "emotion_named": EmotionNamed.NONE,
        "scale_a": MARKS,
    }
    return Example(
        "replies", group, "zh", (Said(Role.ASSISTANT, text),), reply=ReplyLabels(**labels | changed)
    )


def told(rows: int, **changed: torch.Tensor) -> dict[str, torch.Tensor]:
    return {name: torch.zeros(rows, size) for name, size in HEADS.items()} | changed


def test_users_turns_learn_nothing_of_replies():
    assert reply_loss([risky("累"), calm("好")], told(2)).item() == 0.0


def test_replies_learn_nothing_of_users_turns():
    _, parts = loss([reply(), reply()], told(2))
    assert parts.pop("replies") > 0
    assert set(parts.values()) == {0.0}


@pytest.mark.parametrize(
    ("head", "column", "better"),
    [("criteria", 0, 5.0), ("harmful", 0, -5.0), ("flags", 3, -5.0), ("scale", 1, 5.0)],
)
def test_nearer_to_the_labels_costs_less(head, column, better):
    def cost(value: float) -> float:
        logits = torch.zeros(1, HEADS[head])
        logits[0, column] = value
        return reply_loss([reply()], told(1, **{head: logits})).item()

    assert cost(better) < cost(0.0) < cost(-better)


def test_where_readers_differ_neither_side_is_right():
    def cost(value: float) -> float:
        logits = torch.zeros(1, len(ALL))
        logits[0, 0] = value
        return reply_loss([reply(doubtful=(ALL[0].value,))], told(1, criteria=logits)).item()

    assert cost(2.0) == pytest.approx(cost(-2.0))
    assert cost(0.0) < cost(2.0)


def test_a_flag_of_one_reader_is_half_a_truth():
    place = list(Flag).index(Flag.ECHO)

    def cost(value: float, **labels: Any) -> float:
        logits = torch.zeros(1, len(Flag))
        logits[0, place] = value
        return reply_loss([reply(**labels)], told(1, flags=logits)).item()

    assert cost(3.0, maybe=(Flag.ECHO,)) == pytest.approx(cost(-3.0, maybe=(Flag.ECHO,)))
    assert cost(3.0, flags=(Flag.ECHO,)) < cost(-3.0, flags=(Flag.ECHO,))


def test_a_dimension_that_does_not_apply_is_no_task():
    logits = torch.zeros(1, len(SCALE))
    logits[0, SCALE.index("crisis")] = -9.0
    without = tuple((name, None if name == "crisis" else 4) for name in SCALE)
    assert reply_loss([reply(scale_a=without)], told(1, scale=logits)).item() == pytest.approx(
        reply_loss([reply(scale_a=without)], told(1)).item()
    )


def test_a_variant_without_a_criterion_stands_below_in_its_family_only():
    def cost(first: str, second: str) -> float:
        some = [reply(group=first), reply(group=second, criteria=ALL[1:])]
        wrong = torch.zeros(2, len(ALL))
        wrong[1, 0] = 1.0
        return reply_loss(some, told(2, criteria=wrong)).item()

    assert cost("one", "one") > cost("one", "other")


def test_the_network_has_a_head_for_each_label():
    found = Network(nn.ModuleList(), WIDTH).said(torch.zeros(3, WIDTH))
    assert {name: tuple(one.shape) for name, one in found.items()} == {
        name: (3, size) for name, size in HEADS.items()
    }
