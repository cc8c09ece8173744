"""What is trained: the encoder's upper layers and a linear head for each label.

One pass of the encoder serves a turn for good; how earlier turns are read stands in ``detectors.training.reader``.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn

from detectors.finding import CRISIS_LEVELS, Criterion, Cue, Emotion, EmotionNamed, Flag, Level
from detectors.training.vocabulary import KINDS

LEVELS: Final = (Level.NONE, *CRISIS_LEVELS)
SCALE: Final = ("emotion", "empathy", "reappraisal", "behaviour", "crisis")
"""Dimensions of scale A."""
HEADS: Final = {
    "crisis": 1,
    "level": len(LEVELS),
    "distress": 1,
    "emotions": len(Emotion),
    "cues": len(Cue),
    "kind": len(KINDS),
    # of an assistant's turn
    "criteria": len(Criterion),
    "harmful": 1,
    "flags": len(Flag),
    "emotion_named": len(EmotionNamed),
    "scale": len(SCALE),
}


class Network(nn.Module):
    """``upper`` are BERT layers; they are trained in place."""

    def __init__(self, upper: nn.ModuleList, hidden: int) -> None:
        super().__init__()
        self.upper = upper
        self.scale = hidden**0.5  # unit vectors are small for a linear layer
        self.heads = nn.ModuleDict({name: nn.Linear(hidden, size) for name, size in HEADS.items()})
        self.dropout = nn.Dropout(0.1)

    def encode(self, states: Tensor, mask: Tensor) -> Tensor:
        """Lower states (n, length, hidden) and mask (n, length) to unit vectors (n, hidden)."""
        shut = (1.0 - mask[:, None, None, :].to(states.dtype)) * torch.finfo(states.dtype).min
        for layer in self.upper:
            out: Any = layer(states, attention_mask=shut)
            states = out[0] if isinstance(out, tuple) else out
        weight = mask[:, :, None].to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1)
        return nn.functional.normalize(mean, dim=-1)

    def forward(self, states: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """What each text says by itself, a logit for each label."""
        return self.said(self.dropout(self.encode(states, mask) * self.scale))

    def said(self, scaled: Tensor) -> dict[str, Tensor]:
        """The same from unit vectors times ``scale``."""
        return {name: head(scaled) for name, head in self.heads.items()}
