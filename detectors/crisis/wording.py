"""A second, plainer reading: hashed character and word n-grams. It hears a turn of phrase where the vector hears the topic."""

from __future__ import annotations

import re
import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 15
_LONGEST = 4
_WORD = re.compile(r"[a-z']+")
_SPACE = re.compile(r"\s+")
_READ = 600  # characters of a window


def buckets(text: str) -> NDArray[np.int64]:
    """Sorted, distinct bucket numbers (0 … BUCKETS-1) of the n-grams of a text in normal form."""
    low = _SPACE.sub(" ", text[:_READ].lower())
    grams = {low[i : i + n] for n in range(1, _LONGEST + 1) for i in range(len(low) - n + 1)}
    words = _WORD.findall(low)
    grams |= {f"#{word}" for word in words} | {f"#{a} {b}" for a, b in pairwise(words)}
    return np.unique(
        np.array([zlib.crc32(gram.encode("utf-8", "replace")) % BUCKETS for gram in grams], dtype=np.int64)
    )


def weigh(text: str, weights: NDArray[np.float32], bias: float) -> float:
    """Log odds by wording alone; ``weights`` has shape (BUCKETS,)."""
    found = buckets(text)
    if not len(found):
        return bias
    return float(weights[found].sum() / np.sqrt(len(found))) + bias
