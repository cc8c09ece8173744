"""The trained network as a file to ship: differences of the upper layers, the heads, and the bank for evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save

from detectors.encoder import adapter
from detectors.training.batches import TextTable
from detectors.training.example import Example
from detectors.training.network import Network
from detectors.training.reader import ContextReader

LIMIT: Final = 12_000_000  # bytes in the repository
Weights = Mapping[str, NDArray[np.float32]]


def differences(network: Network, before: Weights, frozen: int) -> dict[str, NDArray[np.generic]]:
    """Trained minus ``before`` (the base's upper layers, by name within ``upper``), under the base's own names."""
    out: dict[str, NDArray[np.generic]] = {}
    for name, parameter in network.upper.named_parameters():
        layer, _, rest = name.partition(".")
        full = f"encoder.layer.{int(layer) + frozen}.{rest}"
        difference = parameter.detach().numpy() - before[name]
        if difference.ndim == 2:
            packed, scale = adapter.pack(difference)
            out[adapter.DELTA + full], out[adapter.SCALE + full] = packed, scale
        else:
            out[adapter.DELTA + full] = difference.astype(np.float32)
    return out


def write(
    file: Path,
    network: Network,
    reader: ContextReader,
    before: Weights,
    frozen: int,
    base: str,
    bank: tuple[NDArray[np.int8], Sequence[Example]],
    languages: Sequence[str],
) -> None:
    """Raises ``ValueError`` when the file would be too large for the repository."""
    tensors = differences(network, before, frozen)
    for name, value in {**network.state_dict(), **reader.state_dict()}.items():
        if not name.startswith("upper."):
            tensors[name] = value.detach().numpy().astype(np.float16)
    memories, rows = bank
    tensors["bank"] = memories
    index = {
        "families": [row.group for row in rows],
        "kinds": [row.kind for row in rows],
        "risky": [int(bool(row.crisis)) for row in rows],
    }
    metadata = {
        adapter.BASE: base,
        "bank": json.dumps(index, separators=(",", ":")),
        "languages": json.dumps(sorted(languages)),
    }
    file.write_bytes(_settled(save(tensors, metadata)))
    if (size := file.stat().st_size) > LIMIT:
        raise ValueError(f"the model has {size} bytes, more than {LIMIT}: freeze more layers")


def _settled(raw: bytes) -> bytes:
    """The library writes the metadata in an order by chance; the same model must be the same bytes."""
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.dumps(json.loads(raw[8:start]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + raw[start:]


@torch.inference_mode()
def bank_of(
    reader: ContextReader, examples: Sequence[Example], table: TextTable, vectors: torch.Tensor
) -> tuple[NDArray[np.int8], list[Example]]:
    """Memories of one row of each side of each family of single turns. ``vectors`` (texts, hidden), scaled."""
    chosen: dict[tuple[str, bool], Example] = {}
    for example in examples:
        if example.single and example.kind is not None:
            chosen.setdefault((example.group, bool(example.crisis)), example)
    rows = sorted(chosen.values(), key=lambda e: (e.group, bool(e.crisis)))
    memories = reader.memories(vectors[[table.last(row) for row in rows]]).numpy()
    return np.rint(memories * 127).astype(np.int8), rows
