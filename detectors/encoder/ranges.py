"""What int8 cannot hold of a network, and what is done about it before it is quantised. Needs onnx.

A dynamic int8 product has one scale for all its inputs, so a few wide ones leave the others no bits. Two remedies, both
measured on sentences of our own by the distance of int8 rows from float32 ones (mean .011 without, .0043 with the
first, .0015 with both; time rises by a sixth):

1. In a few layers some tokens carry values a hundred times the usual into the second product of the feed-forward part
   (Bondarenko et al. 2021, arXiv:2109.12948; Sun et al. 2024, "Massive activations in large language models"). Two in
   five of these products stay in float32.
2. Behind a normalisation a few channels are wide for every token. They are divided by a factor each, and the weights
   multiplied by it, which changes nothing but the range (SmoothQuant: Xiao et al. 2023, arXiv:2211.10438).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper

KEPT: Final = 0.4
"""Share of the second feed-forward products that stays in float32."""

# plain sentences: what is wide in a network is wide for any of them
PROBES: Final = (
    "The bus was late again, so I walked home and made soup.",
    "Thanks, that helped a lot! Can we talk about next week?",
    "今天下班很晚，回家路上下雨了，心里有点累。",
    "谢谢你听我说，我想先睡一觉，明天再看。",
)

_TINY: Final = 1e-5

Words = Sequence[NDArray[np.float32]]
"""The word vectors (length, hidden) of some plain sentences."""


def widest_products(network: Path, words: Words) -> list[str]:
    """Return the names of the second feed-forward products with the widest inputs, widest first."""
    model = onnx.load(network)
    products = {node.input[0]: node.name for node in model.graph.node if _closes_feed_forward(node)}
    width = _measure(model, list(products), words, lambda value: np.ptp(value) / np.sqrt(np.mean(value**2)))
    widest = sorted(products, key=lambda name: -float(np.mean(width[name])))
    return [products[name] for name in widest[: round(len(products) * KEPT)]]


def smooth(network: Path, words: Words) -> None:
    """Even out, in place, the channels that enter attention and the first feed-forward product."""
    model = onnx.load(network)
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    follows = [node for node in graph.node if _follows_normalisation(node) and node.input[1] in weights]
    widest = _measure(
        model, [node.input[0] for node in follows], words, lambda value: np.abs(value[0]).max(axis=0)
    )
    for node in follows:
        weight = numpy_helper.to_array(weights[node.input[1]])
        factor = _factors(np.max(widest[node.input[0]], axis=0), np.abs(weight).max(axis=1))
        name = f"{node.name}_channels"
        weights[node.input[1]].CopyFrom(numpy_helper.from_array(weight * factor[:, None], node.input[1]))
        graph.initializer.append(numpy_helper.from_array(1 / factor, name))
        scaled = helper.make_node("Mul", [node.input[0], name], [f"{name}_evened"], name=name)
        graph.node.insert(list(graph.node).index(node), scaled)
        node.input[0] = f"{name}_evened"
    onnx.save(model, network)


def _factors(inputs: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Half of the range of each channel goes over to the weights (the paper's alpha of .5); their mean stays 1."""
    factor = np.sqrt(np.maximum(inputs, _TINY) / np.maximum(weights, _TINY))
    return np.asarray(factor / np.exp(np.log(factor).mean()), dtype=np.float32)


def _measure(
    model: onnx.ModelProto,
    names: list[str],
    words: Words,
    how: Callable[[NDArray[np.float32]], NDArray[np.float32]],
) -> dict[str, list[NDArray[np.float32]]]:
    """Return ``how`` of each named value, once a sentence."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    names = sorted(set(names))
    for name in names:
        watched.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    measured: dict[str, list[NDArray[np.float32]]] = {name: [] for name in names}
    for rows in words:
        feed = {"words": rows[None], "attention_mask": np.ones((1, len(rows)), dtype=np.int64)}
        for name, value in zip(names, session.run(names, feed), strict=True):
            measured[name].append(how(value))
    return measured


def _closes_feed_forward(node: onnx.NodeProto) -> bool:
    return (
        node.op_type == "MatMul"
        and node.name.endswith("output/dense/MatMul")
        and "attention" not in node.name
    )


def _follows_normalisation(node: onnx.NodeProto) -> bool:
    return node.op_type == "Attention" or node.name.endswith("intermediate/dense/MatMul")
