"""Low-rank adaptation (Hu et al. 2021): each matrix keeps its value and learns a difference of small rank.

Fewer numbers move, so what was learnt before is kept better; the matrices' own gradients, a third of a step, are not
needed. Merged again before anything ships: what is stored is the difference, however it was learnt.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

_STRENGTH: Final = 2.0  # alpha over rank


class LowRank(nn.Module):
    """A linear layer that is frozen but for ``up · down``."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = linear
        for parameter in linear.parameters():
            parameter.requires_grad = False
        self.down = nn.Linear(linear.in_features, rank, bias=False)
        self.up = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, rows: Tensor) -> Tensor:
        found: Tensor = self.base(rows) + _STRENGTH * self.up(self.down(rows))
        return found

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """The frozen layer with the difference added."""
        self.base.weight.add_(_STRENGTH * self.up.weight @ self.down.weight)
        for parameter in self.base.parameters():
            parameter.requires_grad = True
        return self.base


def adapt(module: nn.Module, rank: int) -> None:
    """Put every linear layer of ``module`` behind a ``LowRank``, in place."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LowRank(child, rank))
        else:
            adapt(child, rank)


def merge(module: nn.Module) -> None:
    """Undo ``adapt`` and keep what was learnt, in place."""
    for name, child in module.named_children():
        if isinstance(child, LowRank):
            setattr(module, name, child.merged())
        else:
            merge(child)
