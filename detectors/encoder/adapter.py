"""Differences to an encoder's weights, small enough to ship: four bits a weight and a scale for each block of a row.

A safetensors file; tensors named ``delta.<parameter>`` are added to the base encoder's parameters of that name. Where
``scale.<parameter>`` stands beside one, it holds two numbers of four bits a byte (``pack``), else floats. Its metadata
names the base by the digest of its weights.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from detectors.encoder.errors import WeightsError

DELTA: Final = "delta."
SCALE: Final = "scale."
BASE: Final = "base"
BLOCK: Final = 32  # weights that share a scale


@dataclass(frozen=True, slots=True)
class Adapter:
    """``digest`` is over the differences alone; ``base`` is the digest of the weights they were trained on."""

    path: Path
    digest: str
    base: str


def read_adapter(path: Path) -> Adapter:
    """Raises ``WeightsError`` when the file cannot be read or says nothing of its base."""
    digest = hashlib.sha256()
    try:
        with safe_open(path, framework="numpy") as file:
            base = (file.metadata() or {})[BASE]
            for name in sorted(file.keys()):
                if name.startswith((DELTA, SCALE)):
                    digest.update(name.encode() + np.ascontiguousarray(file.get_tensor(name)).tobytes())
    except (OSError, KeyError, SafetensorError) as error:
        raise WeightsError(
            f"{path} is no adapter of ours: install the package again, or train one with jiezhu train"
        ) from error
    return Adapter(path, digest.hexdigest(), base)


def pack(difference: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """A matrix (rows, columns) as (rows, columns / 2) bytes and (rows, columns / 32) scales.

    value = (nibble − 8) · scale of its block; the low nibble is the first of two. ``columns`` is a multiple of 32.
    """
    rows, columns = difference.shape
    blocks = difference.reshape(rows, columns // BLOCK, BLOCK)
    scale = (np.abs(blocks).max(axis=2) / 7).astype(np.float16)
    divisor = np.where(scale == 0, 1, scale).astype(np.float32)
    nibbles = (np.clip(np.rint(blocks / divisor[:, :, None]), -7, 7) + 8).astype(np.uint8)
    pairs = nibbles.reshape(rows, columns // 2, 2)
    return pairs[:, :, 0] | (pairs[:, :, 1] << 4), scale


def unpack(packed: NDArray[np.uint8], scale: NDArray[np.float16]) -> NDArray[np.float32]:
    """The matrix that ``pack`` made these of, within half a step."""
    rows = len(packed)
    nibbles = np.stack([packed & 15, packed >> 4], axis=2).reshape(rows, -1, BLOCK).astype(np.float32) - 8
    whole: NDArray[np.float32] = (nibbles * scale.astype(np.float32)[:, :, None]).reshape(rows, -1)
    return whole


def apply(network: Any, adapter: Path) -> None:
    """Add the differences to a torch module's parameters, in place. Raises ``WeightsError`` where they do not fit."""
    import torch  # noqa: PLC0415  seconds, and only where weights are merged

    parameters = dict(network.named_parameters())
    with safe_open(adapter, framework="numpy") as file:
        names = set(file.keys())
        for name in sorted(names):
            if not name.startswith(DELTA):
                continue
            target = name.removeprefix(DELTA)
            stored = file.get_tensor(name)
            packed = SCALE + target in names
            difference = (
                unpack(stored, file.get_tensor(SCALE + target)) if packed else stored.astype(np.float32)
            )
            parameter = parameters.get(target)
            if parameter is None or tuple(parameter.shape) != difference.shape:
                raise WeightsError(
                    f"the adapter does not fit the encoder at {target}: set JIEZHU_ENCODER__SOURCE to offline"
                )
            with torch.no_grad():
                parameter.add_(torch.from_numpy(difference))
