"""A transformer to an int8 ONNX file and a table of word vectors beside it. Needs torch and onnx.

The table (five sixths of the weights) stays out of the graph: looked up from a mapped file it costs a worker only the
rows it touches, workers share it, and exporting needs a third of the memory and time. Each row has its own scale.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.optimizer import optimize_model
from torch import nn

from detectors.encoder.ranges import smooth, widest_products

OPSET: Final = 17
INPUTS: Final = ("words", "attention_mask")
OUTPUT: Final = "last_hidden_state"

# the quantiser asks for the type of values it cannot infer: all of ours are float
_FLOAT: Final = 1


def export_network(
    model: nn.Module,
    heads: int,
    probes: Sequence[NDArray[np.float32]],
    target: Path,
    on_stage: Callable[[str, int, int], None],
) -> None:
    """Write ``target``: int8 weights; inputs word vectors (n, length, hidden) and mask (n, length), output like the first.

    ``probes`` are the word vectors (length, hidden) of plain sentences, by which it is seen what int8 cannot hold.
    ``model`` is called as BERT is and must use eager attention: the tracer cannot see into the fused kernels.
    """
    workbench = target.parent / "export"
    workbench.mkdir()
    fused = export_float(model, heads, probes[0].shape[1], workbench, on_stage)
    on_stage("quantise", 0, 1)
    smooth(fused, probes)
    quantize_dynamic(
        fused,
        target,
        weight_type=QuantType.QInt8,
        per_channel=True,
        # seven bits: without VNNI, eight overflow the 16-bit sums, which costs accuracy and makes rows depend on the CPU
        reduce_range=True,
        nodes_to_exclude=widest_products(fused, probes),
        extra_options={"DefaultTensorType": _FLOAT},
    )
    shutil.rmtree(workbench)
    on_stage("quantise", 1, 1)


def export_float(
    model: nn.Module, heads: int, hidden: int, workbench: Path, on_stage: Callable[[str, int, int], None]
) -> Path:
    """Write the float32 network, its attention and normalisations fused, into ``workbench``; return its file."""
    plain, fused = workbench / "plain.onnx", workbench / "fused.onnx"
    on_stage("export", 0, 1)
    words = torch.linspace(-1, 1, 2 * 5 * hidden).reshape(2, 5, hidden)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])
    axes = {0: "batch", 1: "length"}
    with torch.inference_mode():
        torch.onnx.export(
            _HiddenStates(model).eval(),
            (words, mask),
            str(plain),
            input_names=list(INPUTS),
            output_names=[OUTPUT],
            dynamic_axes=dict.fromkeys([*INPUTS, OUTPUT], axes),
            opset_version=OPSET,
            dynamo=False,
        )
    on_stage("export", 1, 1)
    on_stage("optimise", 0, 1)
    optimize_model(str(plain), model_type="bert", num_heads=heads, hidden_size=hidden).save_model_to_file(
        str(fused)
    )
    on_stage("optimise", 1, 1)
    return fused


def export_words(table: NDArray[np.float32], words: Path, scales: Path) -> None:
    """Write ``table`` (vocabulary, hidden) as int8 and one float32 scale a row: value = word · scale."""
    scale = np.abs(table).max(axis=1) / 127
    # a row of zeros has no scale; any will do
    scale[scale == 0] = 1
    np.save(words, np.rint(table / scale[:, None]).astype(np.int8))
    np.save(scales, scale.astype(np.float32))


class _HiddenStates(nn.Module):
    """BERT with two inputs and one output, as positional arguments."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.model(inputs_embeds=words, attention_mask=mask).last_hidden_state
        return states
