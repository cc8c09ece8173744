from __future__ import annotations

import torch
from torch import nn

from detectors.training.lowrank import LowRank, adapt, merge


def made() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Sequential(nn.Linear(8, 3)))


def test_an_adapted_module_starts_as_it_was():
    rows = torch.randn(4, 6)
    module = made()
    before = module(rows)
    adapt(module, 2)
    assert torch.equal(module(rows), before)


def test_only_the_differences_learn():
    module = made()
    adapt(module, 2)
    module(torch.randn(4, 6)).square().sum().backward()
    assert isinstance(module[0], LowRank)
    assert module[0].base.weight.grad is None
    assert module[0].up.weight.grad is not None


def test_merged_it_says_the_same_under_the_old_names():
    module = made()
    names = [name for name, _ in module.named_parameters()]
    adapt(module, 2)
    for one in module.modules():
        if isinstance(one, LowRank):
            nn.init.normal_(one.up.weight)
    rows = torch.randn(4, 6)
    learnt = module(rows)
    merge(module)
    assert [name for name, _ in module.named_parameters()] == names
    assert torch.allclose(module(rows), learnt, atol=1e-5)
    assert all(one.requires_grad for one in module.parameters())
