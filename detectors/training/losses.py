"""What the network is asked to get right, and how much each thing counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as f

from detectors.finding import Cue, Emotion, Level
from detectors.training.example import Example
from detectors.training.network import LEVELS
from detectors.training.reply_losses import reply_loss
from detectors.training.vocabulary import KINDS, TRENDS

WEIGHTS: Final = {
    "crisis": 1.0,
    "pairs": 0.3,
    "level": 0.5,
    "distress": 0.5,
    "emotions": 0.3,
    "cues": 0.3,
    "kind": 0.2,
    "trend": 0.2,
    "replies": 1.0,
}
_MARGIN: Final = 3.0  # logits by which the risky one of a pair is to be above the other
_SMOOTH: Final = 0.02
_ROWS: Final = 32  # of a usual batch
_FAMILIES: Final = 12  # with both sides, in a usual batch
# neighbours on the scale: readers differ there (LABELS), so a part of the truth goes to them
_NEAR: Final = {
    Level.PASSIVE_IDEATION: (Level.ACTIVE_IDEATION,),
    Level.ACTIVE_IDEATION: (Level.PASSIVE_IDEATION, Level.PLAN_INTENT),
    Level.PLAN_INTENT: (Level.ACTIVE_IDEATION, Level.PREPARATION),
    Level.PREPARATION: (Level.PLAN_INTENT,),
    Level.IN_PROGRESS: (Level.PLAN_INTENT, Level.SELF_HARM),
}
_NEIGHBOURS: Final = 0.1


def loss(examples: Sequence[Example], told: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, float]]:
    """The weighted sum, and each part of it for the record. ``told`` are logits by label; a label without is no task."""
    weight = torch.tensor([e.weight for e in examples])
    parts = {
        "crisis": _crisis(examples, told["crisis"][:, 0], weight),
        "pairs": _pairs(examples, told["crisis"][:, 0]),
        "level": _level(examples, told["level"], weight),
        "distress": _distress(examples, told["distress"][:, 0], weight),
    }
    if "emotions" in told:
        parts["emotions"] = _named(told["emotions"], tuple(Emotion), [e.emotions for e in examples])
        parts["cues"] = _named(told["cues"], tuple(Cue), [e.cues for e in examples])
        parts["kind"] = _chosen(told["kind"], [_place(KINDS, e.kind) for e in examples])
    if "criteria" in told:
        parts["replies"] = reply_loss(examples, told)
    if "trend" in told:
        parts["trend"] = _chosen(told["trend"], [_place(TRENDS, e.trend) for e in examples])
    total = sum((WEIGHTS[name] * part for name, part in parts.items()), torch.zeros(()))
    return total, {name: float(part.detach()) for name, part in parts.items()}


def _mean(losses: Tensor, weight: Tensor) -> Tensor:
    """Over a usual batch: a row of a batch of few long ones counts as much as one of many short ones."""
    return (losses * weight).sum() / _ROWS


def _crisis(examples: Sequence[Example], logit: Tensor, weight: Tensor) -> Tensor:
    known = torch.tensor([e.crisis is not None for e in examples], dtype=torch.float32)
    truth = torch.tensor([float(bool(e.crisis)) for e in examples])
    smooth = truth * (1 - 2 * _SMOOTH) + _SMOOTH
    return _mean(f.binary_cross_entropy_with_logits(logit, smooth, reduction="none"), weight * known)


def _pairs(examples: Sequence[Example], logit: Tensor) -> Tensor:
    """Within a family the risky one must stand above the harmless one, whatever topic both share."""
    families: dict[str, tuple[list[int], list[int]]] = {}
    for i, one in enumerate(examples):
        if one.kind is not None and one.crisis is not None:  # turns of one dialogue are no pairs
            families.setdefault(one.group, ([], []))[not one.crisis].append(i)
    apart = [
        f.softplus(_MARGIN - (logit[risky][:, None] - logit[safe][None, :])).mean()
        for risky, safe in families.values()
        if risky and safe
    ]
    return torch.stack(apart).sum() / _FAMILIES if apart else logit.new_zeros(())


def _level(examples: Sequence[Example], logits: Tensor, weight: Tensor) -> Tensor:
    truth = torch.zeros_like(logits)
    for i, example in enumerate(examples):
        if example.level is None:
            continue
        near = _NEAR.get(example.level, ())
        truth[i, LEVELS.index(example.level)] = 1.0 - _NEIGHBOURS * bool(near)
        for level in near:
            truth[i, LEVELS.index(level)] = _NEIGHBOURS / len(near)
    known = truth.sum(1)
    return _mean(-(truth * f.log_softmax(logits, dim=-1)).sum(1), weight * known)


def _distress(examples: Sequence[Example], logit: Tensor, weight: Tensor) -> Tensor:
    known = torch.tensor([float(e.distress is not None) for e in examples])
    truth = torch.tensor([(e.distress or 0) / 4 for e in examples])
    return _mean(f.binary_cross_entropy_with_logits(logit, truth, reduction="none"), weight * known)


def _named(
    logits: Tensor,
    names: Sequence[Emotion | Cue],
    truths: Sequence[frozenset[Emotion] | frozenset[Cue] | None],
) -> Tensor:
    known = torch.tensor([float(t is not None) for t in truths])
    truth = torch.tensor([[float(t is not None and name in t) for name in names] for t in truths])
    losses = f.binary_cross_entropy_with_logits(logits, truth, reduction="none").sum(1)
    return _mean(losses, known) / 4


def _place(names: Sequence[str], name: str | None) -> int:
    return names.index(name) if name in names else -1


def _chosen(logits: Tensor, places: Sequence[int]) -> Tensor:
    truth = torch.tensor(places)
    if not (truth >= 0).any():
        return logits.new_zeros(())
    return f.cross_entropy(logits, truth, ignore_index=-1, reduction="sum") / _ROWS
