"""Going on from a trained model: its differences and its heads, under a network that may have more heads.

What comes of it is the middle between the two (``blend``): a model that goes on learns the new and forgets some of the
old, and half-way it keeps nearly all of both (Wortsman et al. 2022, Robust fine-tuning of zero-shot models).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import safe_open
from torch import Tensor

from detectors.encoder.adapter import DELTA, apply, read_adapter
from detectors.training.network import Network

WAY: Final = 0.5
"""How far from the model begun with, of 1. Chosen on calibration families of the shipped model, of 0, 0.5 and 1."""


def go_on_from(file: Path, bert: Any, network: Network, frozen: int) -> dict[str, Tensor]:
    """Put the model in ``file`` into ``bert``, whose upper layers are ``network``'s, and into the heads it has.

    Return what the network's parameters are now, by name, without those of heads that it has not. Raises ``ValueError``
    when it has learnt in layers that stay frozen now, ``WeightsError`` when it is no model of ours.
    """
    read_adapter(file)
    with safe_open(file, framework="pt") as kept:
        names = set(kept.keys())
        learnt = {int(name.split(".")[3]) for name in names if name.startswith(f"{DELTA}encoder.layer.")}
        if learnt and min(learnt) < frozen:
            raise ValueError(
                f"{file.name} has learnt in {12 - min(learnt)} layers: train as many, or start from the base"
            )
        apply(bert, file)
        with torch.no_grad():
            for name, parameter in network.heads.named_parameters():
                if f"heads.{name}" in names:
                    parameter.copy_(kept.get_tensor(f"heads.{name}").float())
    return {
        name: parameter.detach().clone()
        for name, parameter in network.named_parameters()
        if name.startswith("upper.") or name in names
    }


@torch.no_grad()
def blend(network: Network, begun: Mapping[str, Tensor], way: float = WAY) -> None:
    """Bring what was trained back towards what was begun with; 1 leaves it. A head that is new stays as it is."""
    for name, parameter in network.named_parameters():
        if name in begun:
            parameter.lerp_(begun[name], 1 - way)
