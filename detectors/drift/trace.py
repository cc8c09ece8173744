"""What is kept of a reply's meaning: the 48 numbers that its memory holds for later turns, a signed byte each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

WIDTH: Final = 48
_LIMIT: Final = 127


def trace_of(numbers: Sequence[float] | NDArray[np.float32]) -> bytes:
    """From ``detectors.crisis.memory.Memory.trace`` (48 numbers, -1 to 1). Raise ValueError for another shape."""
    whole = np.asarray(numbers, dtype=np.float64)
    if whole.shape != (WIDTH,):
        raise ValueError(
            f"a trace has {WIDTH} numbers, not {whole.size}; prepare the encoder of this release"
        )
    return np.clip(np.rint(whole * _LIMIT), -_LIMIT, _LIMIT).astype(np.int8).tobytes()


def numbers_of(trace: bytes) -> NDArray[np.int64]:
    """Shape (48,), -127 to 127."""
    return np.frombuffer(trace, dtype=np.int8).astype(np.int64)
