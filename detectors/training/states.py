"""What the frozen lower layers make of a text, computed once and kept: they take half the time of a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from detectors.encoder.rows import PREFIX, clean_text

MOST_TOKENS: Final = 256  # of a user's turn
MOST_OF_A_REPLY: Final = 128
_BATCH_TOKENS: Final = 4096

_FLAT: Final = "states.npy"
_LENGTHS: Final = "lengths.npy"

Halves = NDArray[np.float16]


class LowerStates:
    """States of texts by row, float16. ``flat`` (tokens, hidden) one text after the other; ``lengths`` in tokens."""

    def __init__(self, flat: Halves, lengths: NDArray[np.int64]) -> None:
        self._flat = flat
        self.lengths = lengths
        self._starts = np.concatenate([[0], np.cumsum(lengths)])

    def save(self, place: Path) -> None:
        """Write beside and move in: a broken-off run leaves the old ones or none."""
        for name, values in ((_FLAT, self._flat), (_LENGTHS, self.lengths)):
            beside = place / f"{name}.part.npy"
            np.save(beside, values)
            beside.replace(place / name)

    @classmethod
    def load(cls, place: Path) -> Self:
        return cls(np.load(place / _FLAT, mmap_mode="r"), np.load(place / _LENGTHS))

    def batch(self, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return states (n, length, hidden) float32 and mask (n, length), padded to the longest."""
        longest = max((int(self.lengths[row]) for row in rows), default=0)
        hidden = self._flat.shape[1]
        states = torch.zeros(len(rows), longest, hidden)
        mask = torch.zeros(len(rows), longest, dtype=torch.long)
        for place, row in enumerate(rows):
            one = torch.from_numpy(self._flat[self._starts[row] : self._starts[row + 1]].astype(np.float32))
            states[place, : len(one)] = one
            mask[place, : len(one)] = 1
        return states, mask


def lower_states(
    model: Any,
    texts: Sequence[str],
    limits: Sequence[int],
    layers: int,
    on_step: Callable[[int, int], None] = lambda *_: None,
) -> LowerStates:
    """Run ``texts`` through the first ``layers`` layers of a SentenceTransformer; past their limit they lose their middle."""
    bert, tokenizer = model[0].model, model.tokenizer.backend_tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = [
        _cut(one.ids, limit)
        for one, limit in zip(
            tokenizer.encode_batch([PREFIX + clean_text(text) for text in texts]), limits, strict=True
        )
    ]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    states: list[Halves] = [np.empty((0, 0), dtype=np.float16)] * len(ids)
    done = 0
    while done < len(order):
        length = len(ids[order[done]])
        some = order[done : done + max(1, _BATCH_TOKENS // max(length, 1))]
        longest = max(len(ids[i]) for i in some)
        words = torch.full((len(some), longest), bert.config.pad_token_id or 0)
        mask = torch.zeros(len(some), longest, dtype=torch.long)
        for place, i in enumerate(some):
            words[place, : len(ids[i])] = torch.tensor(ids[i])
            mask[place, : len(ids[i])] = 1
        with torch.inference_mode():
            found = bert.embeddings(input_ids=words)
            shut = (1.0 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
            for layer in bert.encoder.layer[:layers]:
                out = layer(found, attention_mask=shut)
                found = out[0] if isinstance(out, tuple) else out
        for place, i in enumerate(some):
            states[i] = found[place, : len(ids[i])].numpy().astype(np.float16)
        done += len(some)
        on_step(done, len(order))
    return LowerStates(np.concatenate(states), np.array([len(one) for one in states]))


def _cut(ids: list[int], limit: int) -> list[int]:
    """The end of a message says at least as much as its beginning."""
    if len(ids) <= limit:
        return ids
    head = limit // 2
    return ids[:head] + ids[-(limit - head) :]
