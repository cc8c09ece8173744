"""What is done to a network before it is quantised changes nothing that it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from transformers import BertConfig, BertModel

from detectors.encoder.export import export_float
from detectors.encoder.ranges import KEPT, smooth, widest_products

# torch's exporter warns of its own future, and of what a trace cannot see
pytestmark = pytest.mark.filterwarnings("ignore")

WIDE, LAYERS = 2, 4


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A float32 network, optimised, whose third layer has a wide input to its second feed-forward product."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=8, hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=2, intermediate_size=64
    )
    model = BertModel(config, add_pooling_layer=False)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        model.encoder.layer[WIDE].intermediate.dense.weight[5] *= 300
        for layer in model.encoder.layer:
            layer.output.LayerNorm.weight[7] = 40.0
    return export_float(model, 2, 32, tmp_path, lambda *_: None)


def words(count: int = 3) -> list[np.ndarray]:
    source = np.random.default_rng(5)
    return [source.normal(size=(length, 32)).astype(np.float32) for length in range(4, 4 + count)]


def states(network: Path) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    rows = words()[0]
    return session.run(
        None, {"words": rows[None], "attention_mask": np.ones((1, len(rows)), dtype=np.int64)}
    )[0]


def test_the_widest_product_is_named(network):
    names = widest_products(network, words())
    assert f"layer.{WIDE}/output" in names[0]
    assert len(names) == round(LAYERS * KEPT) < LAYERS


def test_evening_out_changes_no_state(network):
    before = states(network)
    smooth(network, words())
    assert np.allclose(states(network), before, atol=1e-4)


def test_evening_out_narrows_the_channels(network):
    def spread(choose: Callable[[onnx.NodeProto], bool]) -> float:
        model = onnx.load(network)
        names = [node.input[0] for node in model.graph.node if choose(node)]
        for name in names:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        rows = words()[0]
        feed = {"words": rows[None], "attention_mask": np.ones((1, len(rows)), dtype=np.int64)}
        values = session.run(names, feed)
        channels = [np.abs(value[0]).max(axis=0) for value in values]
        return float(np.mean([each.max() / np.median(each) for each in channels]))

    def enters(node: onnx.NodeProto) -> bool:
        return node.op_type == "Attention"

    before = spread(enters)
    smooth(network, words())
    assert spread(enters) < 0.5 * before


def test_every_product_behind_a_normalisation_is_evened(network):
    smooth(network, words())
    added = [node.name for node in onnx.load(network).graph.node if node.name.endswith("_channels")]
    assert len(added) == 2 * LAYERS
