"""Going on from a trained model: its differences and its heads, under a network that may have more heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from detectors.encoder.adapter import DELTA, apply, read_adapter
from detectors.training.network import Network


def go_on_from(file: Path, bert: Any, network: Network, frozen: int) -> None:
    """Put the model in ``file`` into ``bert``, whose upper layers are ``network``'s, and into the heads it has.

    Raises ``ValueError`` when it has learnt in layers that stay frozen now, ``WeightsError`` when it is no model of ours.
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
