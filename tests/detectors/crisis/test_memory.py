"""The numpy reader does what the torch network was trained to do, and memories survive their packing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from detectors.crisis.memory import Memory, pack, read, remember, unpack
from detectors.crisis.model import LEVELS, Linear, Model, load_model
from detectors.encoder import WeightsError
from detectors.training import artefact
from detectors.training.network import Network
from detectors.training.reader import MEMORY, REACH, ContextReader, Conversations
from tests.support.made_up_model import MODEL

HIDDEN = 16


@pytest.fixture(scope="module")
def reader() -> ContextReader:
    torch.manual_seed(7)
    reader = ContextReader(HIDDEN).eval()
    for parameter in reader.context.parameters():
        nn.init.normal_(parameter)
    return reader


@pytest.fixture(scope="module")
def model(reader: ContextReader, tmp_path_factory: pytest.TempPathFactory) -> Model:
    file: Path = tmp_path_factory.mktemp("model") / "m.safetensors"
    network = Network(nn.ModuleList(), HIDDEN)
    artefact.write(file, network, reader, {}, 6, "base", (np.zeros((0, MEMORY), dtype=np.int8), []), ["zh"])
    return load_model(file)


PLAIN = replace(
    MODEL,
    memory=Linear(np.zeros((MEMORY, 2), dtype=np.float32), np.zeros(MEMORY, dtype=np.float32)),
    mark=b"m",
)
"""A model whose memories are as long as the real one's."""


def memories(count: int) -> list[Memory]:
    source = np.random.default_rng(count)
    return [
        Memory(
            np.tanh(source.normal(size=MEMORY)).astype(np.float32),
            float(source.normal()),
            source.normal(size=len(LEVELS)).astype(np.float32),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [1, 3, REACH, REACH + 3])
def test_the_reader_of_the_product_equals_the_trained_one(reader, model, count):
    source = torch.Generator().manual_seed(count)
    vectors = torch.randn(count + 1, HIDDEN, generator=source)
    crisis = torch.randn(count + 1, 1, generator=source)
    level = torch.randn(count + 1, len(LEVELS), generator=source)
    roles = [i % 2 == 1 for i in range(count)]
    kept = min(count, REACH)
    talk = Conversations(
        vectors,
        crisis,
        level,
        torch.tensor([count]),
        torch.tensor([[-1] * (REACH - kept) + list(range(count - kept, count))]),
        torch.tensor([[0] * (REACH - kept) + [int(role) for role in roles[-kept:]]]),
    )
    with torch.inference_mode():
        traces = reader.memories(vectors).numpy()
        wanted = {name: one[0].numpy() for name, one in reader(talk).items()}
    *before, now = (
        Memory(trace, float(chance), levels.numpy())
        for trace, chance, levels in zip(traces, crisis[:, 0], level, strict=True)
    )
    found = read(model, list(zip(before, roles, strict=True)), now)
    # what ships is in half precision
    assert found.crisis == pytest.approx(wanted["crisis"][0], abs=0.02)
    assert found.levels == pytest.approx(wanted["level"], abs=0.02)
    assert found.trend == pytest.approx(wanted["trend"], abs=0.02)
    assert found.distress == pytest.approx(wanted["distress"][0], abs=0.02)


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=MEMORY, max_size=MEMORY),
    st.floats(-40, 40),
    st.lists(st.floats(-40, 40, width=32), min_size=len(LEVELS), max_size=len(LEVELS)),
)
def test_a_memory_survives_its_packing(trace, crisis, levels):
    memory = Memory(np.array(trace, dtype=np.float32), crisis, np.array(levels, dtype=np.float32))
    again = unpack(pack(memory, PLAIN), PLAIN)
    assert again is not None
    assert again.trace == pytest.approx(memory.trace, abs=0.005)
    assert again.crisis == pytest.approx(np.clip(crisis, -10.6, 10.6), abs=0.05)
    assert again.levels == pytest.approx(np.clip(memory.levels, -10.6, 10.6), abs=0.05)


@pytest.mark.parametrize("packed", ["", "abc", "\u4f60", "!" * 40, pack(memories(1)[0], PLAIN) + "aa"])
def test_what_another_model_left_is_no_memory(packed):
    assert unpack(packed, PLAIN) is None


def test_assistants_leave_a_memory_and_no_verdict(model):
    vectors = np.eye(HIDDEN, dtype=np.float32)[:2]
    one, other = (unpack(packed, model) for packed in remember(model, vectors))
    assert one is not None
    assert other is not None
    assert one.crisis == 0
    assert not np.allclose(one.trace, other.trace)


def test_a_damaged_model_is_refused(tmp_path):
    (tmp_path / "m.safetensors").write_bytes(b"no model")
    with pytest.raises(WeightsError, match="install the package again"):
        load_model(tmp_path / "m.safetensors")


def test_another_model_has_another_mark(model):
    assert unpack(pack(memories(1)[0], PLAIN), replace(PLAIN, mark=b"n")) is None
    assert len(model.mark) > 0
