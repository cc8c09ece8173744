"""What the network is asked to get right about an assistant's reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as f

from detectors.finding import Criterion, EmotionNamed, Flag, Outcome
from detectors.training.example import Example, ReplyLabels
from detectors.training.network import SCALE

_WEIGHTS: Final = {"criteria": 1.0, "apart": 0.3, "harmful": 0.5, "flags": 0.5, "emotion": 0.3, "scale": 0.3}
_ROWS: Final = 32  # of a usual batch
_FAMILIES: Final = 8  # of replies, in a usual batch
_MARGIN: Final = (
    3.0  # logits by which a reply that meets a criterion is to be above its variant that does not
)
_SMOOTH: Final = 0.02
_MARK: Final = 4  # the best of scale A


def reply_loss(examples: Sequence[Example], told: Mapping[str, Tensor]) -> Tensor:
    """The weighted sum over the examples that are judged replies; the others learn nothing here."""
    places = [i for i, one in enumerate(examples) if one.reply is not None]
    if not places:
        return told["criteria"].new_zeros(())
    some = [examples[i] for i in places]
    labels = [one.reply for one in some if one.reply is not None]
    logits = {name: told[name][places] for name in ("criteria", "harmful", "flags", "emotion_named", "scale")}
    parts = {
        "criteria": _even(logits["criteria"], _criteria(labels)),
        "apart": _apart(some, labels, logits["criteria"]),
        "harmful": _even(logits["harmful"], _harmful(labels)),
        "flags": _even(logits["flags"], _flags(labels)) * 4,
        "emotion": _emotion(labels, logits["emotion_named"]),
        "scale": _scale(labels, logits["scale"]),
    }
    return sum((_WEIGHTS[name] * part for name, part in parts.items()), torch.zeros(()))


def _even(logits: Tensor, truth: Tensor) -> Tensor:
    """Mean over columns, sum over rows, of a usual batch."""
    smooth = truth * (1 - 2 * _SMOOTH) + _SMOOTH
    return f.binary_cross_entropy_with_logits(logits, smooth, reduction="none").mean(1).sum() / _ROWS


def _criteria(labels: Sequence[ReplyLabels]) -> Tensor:
    """One half where the readers differ."""
    return torch.tensor(
        [
            [0.5 if name.value in one.doubtful else float(name in one.criteria) for name in Criterion]
            for one in labels
        ]
    )


def _harmful(labels: Sequence[ReplyLabels]) -> Tensor:
    return torch.tensor(
        [
            [0.5 if "outcome" in one.doubtful and harmful else float(harmful)]
            for one in labels
            for harmful in [one.outcome is Outcome.HARMFUL]
        ]
    )


def _flags(labels: Sequence[ReplyLabels]) -> Tensor:
    return torch.tensor(
        [[1.0 if flag in one.flags else 0.5 * (flag in one.maybe) for flag in Flag] for one in labels]
    )


def _emotion(labels: Sequence[ReplyLabels], logits: Tensor) -> Tensor:
    names = list(EmotionNamed)
    truth = torch.tensor([names.index(one.emotion_named) for one in labels])
    weight = torch.tensor([0.5 if "emotion_named" in one.doubtful else 1.0 for one in labels])
    return (f.cross_entropy(logits, truth, reduction="none") * weight).sum() / _ROWS


def _scale(labels: Sequence[ReplyLabels], logits: Tensor) -> Tensor:
    marks = [dict(one.scale_a) for one in labels]
    known = torch.tensor([[float(one.get(name) is not None) for name in SCALE] for one in marks])
    truth = torch.tensor([[(one.get(name) or 0) / _MARK for name in SCALE] for one in marks])
    losses = f.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    return (losses * known).sum() / (_ROWS * len(SCALE))


def _apart(examples: Sequence[Example], labels: Sequence[ReplyLabels], logits: Tensor) -> Tensor:
    """Within a family, whose replies answer one situation, what meets a criterion stands above what does not."""
    families: dict[str, list[int]] = {}
    for i, one in enumerate(examples):
        families.setdefault(one.group, []).append(i)
    found = []
    for rows in families.values():
        for column, name in enumerate(Criterion):
            sure = [i for i in rows if name.value not in labels[i].doubtful]
            met = [i for i in sure if name in labels[i].criteria]
            missed = [i for i in sure if name not in labels[i].criteria]
            if met and missed:
                gap = logits[met, column][:, None] - logits[missed, column][None, :]
                found.append(f.softplus(_MARGIN - gap).mean())
    return torch.stack(found).sum() / (_FAMILIES * len(Criterion)) if found else logits.new_zeros(())
