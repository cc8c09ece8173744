from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open

from detectors.crisis.model import load_model as load_parts
from detectors.encoder import adapter
from detectors.encoder.reference import load_model
from detectors.finding import Level
from detectors.training import artefact
from detectors.training.batches import TextTable
from detectors.training.network import Network
from detectors.training.reader import MEMORY, ContextReader
from detectors.training.reading import vectors_of
from detectors.training.states import lower_states
from tests.detectors.training.made import calm, example, risky

NO_BANK = (np.zeros((0, MEMORY), dtype=np.int8), [])
FROZEN = 1


@pytest.fixture
def trained(model):
    """A network whose upper layer has moved, and the weights from before."""
    network = Network(model[0].model.encoder.layer[FROZEN:], model[0].model.config.hidden_size).eval()
    before = {name: one.detach().numpy().copy() for name, one in network.upper.named_parameters()}
    source = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for one in network.upper.parameters():
            one.add_(torch.randn(one.shape, generator=source) * 0.02)
    torch.manual_seed(4)
    return network, ContextReader(model[0].model.config.hidden_size).eval(), before


def test_the_difference_and_the_base_make_what_was_trained(base, trained, tmp_path):
    network, reader, before = trained
    file = tmp_path / "m.safetensors"
    artefact.write(file, network, reader, before, FROZEN, "base", NO_BANK, ["zh"])
    fresh = load_model(base)[0].model
    old = {name: one.detach().clone() for name, one in fresh.named_parameters()}
    adapter.apply(fresh, file)
    for name, one in fresh.named_parameters():
        layer, _, rest = name.removeprefix("encoder.layer.").partition(".")
        if layer != str(FROZEN):
            assert torch.equal(one, old[name])  # frozen
            continue
        wanted = network.upper.get_parameter(f"0.{rest}")
        step = (wanted - old[name]).abs().amax(-1, keepdim=True) / 7 if one.ndim == 2 else torch.zeros(1)
        assert ((one - wanted).abs() <= step * 0.51 + 1e-6).all()
        assert not torch.allclose(one, old[name], atol=1e-3)


def test_the_file_names_its_base_and_its_languages(trained, tmp_path):
    network, reader, before = trained
    file = tmp_path / "m.safetensors"
    artefact.write(file, network, reader, before, FROZEN, "digest of the base", NO_BANK, ["zh", "en"])
    assert adapter.read_adapter(file).base == "digest of the base"
    with safe_open(file, framework="numpy") as read:
        assert json.loads(read.metadata()["languages"]) == ["en", "zh"]


def test_the_product_reads_the_heads_as_they_were_trained(trained, tmp_path):
    network, reader, before = trained
    file = tmp_path / "m.safetensors"
    artefact.write(file, network, reader, before, FROZEN, "base", NO_BANK, ["zh"])
    parts = load_parts(file)
    rows = np.random.default_rng(1).normal(size=(3, reader.memory.in_features)).astype(np.float32)
    assert set(parts.heads) == set(network.heads)
    for name, head in network.heads.items():
        with torch.inference_mode():
            wanted = head(torch.from_numpy(rows)).numpy()
        assert np.allclose(parts.heads[name](rows), wanted, atol=0.01)
    assert parts.scale == pytest.approx(network.scale)


def test_the_same_model_is_the_same_bytes(trained, tmp_path):
    network, reader, before = trained
    for n in range(8):
        artefact.write(tmp_path / f"{n}", network, reader, before, FROZEN, "base", NO_BANK, ["zh"])
    assert len({(tmp_path / f"{n}").read_bytes() for n in range(8)}) == 1


def test_a_model_too_large_for_the_repository_is_refused(trained, tmp_path):
    network, reader, before = trained
    large = np.zeros((artefact.LIMIT // MEMORY, MEMORY), dtype=np.int8)
    with pytest.raises(ValueError, match="freeze more layers"):
        artefact.write(
            tmp_path / "m.safetensors", network, reader, before, FROZEN, "base", (large, []), ["zh"]
        )


def test_the_bank_has_one_row_a_side_a_family(trained, model, tmp_path):
    network, reader, before = trained
    examples = [
        risky("first of b", group="b"),
        risky("second of b", group="b", level=Level.SELF_HARM),
        calm("calm of b", group="b"),
        calm("calm of a", group="a", kind="negation"),
        calm("before", ">reply", "in context", group="c"),
        example("of others, without a kind", group="d", crisis=True),
        *[calm(f"many {n}", group=f"m{n:03}") for n in range(100)],
    ]
    table = TextTable(examples)
    states = lower_states(model, table.texts, table.limits, FROZEN)
    vectors = vectors_of(network, states, lambda *_: None)
    memories, rows = artefact.bank_of(reader, examples, table, vectors)
    assert [(row.group, row.text) for row in rows[:3]] == [
        ("a", "calm of a"),
        ("b", "calm of b"),
        ("b", "first of b"),
    ]
    assert len(rows) == len(memories) == 103
    assert {row.group for row in rows} & {"c", "d"} == set()
    for place in (0, 2, 60):
        with torch.inference_mode():
            vector = network.encode(*states.batch([table.last(rows[place])])) * network.scale
            (alone,) = reader.memories(vector).numpy()
        assert np.abs(memories[place] / 127 - alone).max() < 0.01

    file = tmp_path / "m.safetensors"
    artefact.write(file, network, reader, before, FROZEN, "base", (memories, rows), ["zh"])
    parts = load_parts(file)
    assert parts.families[:3] == ("a", "b", "b")
    assert parts.kinds[:3] == ("negation", "everyday", "plain")
    assert parts.risky[:3].tolist() == [False, False, True]
    assert np.array_equal(parts.bank, memories)
