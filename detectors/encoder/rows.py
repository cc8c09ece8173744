"""From texts to rows: one text at a time, so that a row never depends on its batch mates.

Dynamic quantisation takes its scales from the whole batch, and float kernels change with its size: only single calls
give the same text the same bits. They are as fast as batches on a CPU.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from detectors.encoder.errors import NonFiniteRowError
from detectors.ports import Vectors

# what the model was trained to see before a text that is compared with others
PREFIX: Final = "query: "


def clean_text(text: str) -> str:
    """Return ``text`` without what a tokenizer cannot take.

    Surrogate pairs become their character, lone surrogates U+FFFD; NULs vanish as other control signs do.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", "")


def mean_pool(states: Vectors) -> Vectors:
    """Return the unit mean of ``states`` (length, hidden), summed in float64. Raises ``NonFiniteRowError``."""
    mean = states.mean(axis=0, dtype=np.float64)
    length = np.linalg.norm(mean)
    if not np.isfinite(length) or length == 0:
        raise NonFiniteRowError(
            "the engine gave no finite row for a text: prepare the encoder again, or use the other engine"
        )
    row: Vectors = (mean / length).astype(np.float32)
    return row


class RowMaker:
    """Gives each different text of a call to ``embed`` once, on ``lanes`` threads, and remembers the latest rows.

    Rows are remembered under a digest of their text: the text itself is not kept. Safe to share between threads.
    """

    def __init__(
        self, embed: Callable[[str], Vectors], dimension: int, *, lanes: int = 1, remembered: int = 0
    ) -> None:
        self._embed = embed
        self._dimension = dimension
        self._pool = ThreadPoolExecutor(lanes, "encoder") if lanes > 1 else None
        self._capacity = remembered
        self._rows: OrderedDict[bytes, Vectors] = OrderedDict()
        self._guard = threading.Lock()

    def make(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension), float32, rows of length 1."""
        cleaned = [clean_text(text) for text in texts]
        missing = list(dict.fromkeys(cleaned))
        known = {text: row for text in missing if (row := self._recall(text)) is not None}
        missing = [text for text in missing if text not in known]
        made = map(self._embed, missing) if self._pool is None else self._pool.map(self._embed, missing)
        for text, row in zip(missing, made, strict=True):
            known[text] = row
            self._remember(text, row)
        rows = np.empty((len(cleaned), self._dimension), dtype=np.float32)
        for index, text in enumerate(cleaned):
            rows[index] = known[text]
        return rows

    def _recall(self, text: str) -> Vectors | None:
        if not self._capacity:
            return None
        key = _digest(text)
        with self._guard:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
        return row

    def _remember(self, text: str, row: Vectors) -> None:
        if not self._capacity:
            return
        with self._guard:
            self._rows[_digest(text)] = row
            while len(self._rows) > self._capacity:
                self._rows.popitem(last=False)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
