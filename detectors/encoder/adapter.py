"""Differences to an encoder's weights, small enough to ship: eight bits a weight and a scale for each row.

A safetensors file; tensors named ``delta.<parameter>`` (int8 where ``scale.<parameter>`` stands beside it, else float)
are added to the base encoder's parameters of that name. Its metadata names the base by the digest of its weights.
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


def pack(difference: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix (rows, columns) as int8 and one scale a row: value = packed · scale."""
    scale = np.abs(difference).max(axis=1) / 127
    scale[scale == 0] = 1
    return np.rint(difference / scale[:, None]).astype(np.int8), scale.astype(np.float32)


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
            difference = file.get_tensor(name).astype(np.float32)
            if SCALE + target in names:
                difference = difference * file.get_tensor(SCALE + target)[:, None]
            parameter = parameters.get(target)
            if parameter is None or tuple(parameter.shape) != difference.shape:
                raise WeightsError(
                    f"the adapter does not fit the encoder at {target}: set JIEZHU_ENCODER__SOURCE to offline"
                )
            with torch.no_grad():
                parameter.add_(torch.from_numpy(difference))
