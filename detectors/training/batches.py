"""Examples to batches: like lengths together, variants of one idea together, in a seeded order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from detectors.text import normalise
from detectors.training.example import Example, Said
from detectors.training.reader import REACH
from detectors.training.states import MOST_OF_A_REPLY, MOST_TOKENS
from detectors.turn import Role

Lengths = Sequence[int] | NDArray[np.int64]
TOKENS: Final = 1600  # of a batch, padding included


class TextTable:
    """Every different text once, as the scorer will see it."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._rows: dict[tuple[bool, str], int] = {}
        self.texts: list[str] = []
        self.limits: list[int] = []  # tokens read of each
        for example in examples:
            for said in example.turns[-REACH - 1 :]:
                key = (said.role is Role.USER, said.text)
                if key not in self._rows:
                    self._rows[key] = len(self.texts)
                    asked = said.role is Role.USER
                    self.texts.append(normalise(said.text).text if asked else said.text)
                    self.limits.append(MOST_TOKENS if asked else MOST_OF_A_REPLY)

    def row(self, said: Said) -> int:
        return self._rows[said.role is Role.USER, said.text]

    def last(self, example: Example) -> int:
        """The row of the turn that is judged."""
        return self.row(example.turns[-1])


def plan(examples: Sequence[Example], table: TextTable, lengths: Lengths, seed: int) -> list[list[int]]:
    """Indices of examples, a list a batch. Each epoch asks with another seed."""
    source = random.Random(seed)  # noqa: S311 - an order, no secret
    size = [int(lengths[table.last(example)]) for example in examples]
    families: dict[str, list[int]] = {}
    for i, example in enumerate(examples):
        families.setdefault(example.group, []).append(i)
    shuffled = list(families.values())
    source.shuffle(shuffled)
    # families of like length, with some noise so that batches differ between epochs
    keyed = sorted(shuffled, key=lambda f: max(size[i] for i in f) * source.uniform(0.85, 1.15))
    batches: list[list[int]] = []
    held: list[int] = []
    longest = 0
    for i in (i for family in keyed for i in family):
        longest = max(longest, size[i])
        if held and longest * (len(held) + 1) > TOKENS:
            batches.append(held)
            held, longest = [], size[i]
        held.append(i)
    if held:
        batches.append(held)
    source.shuffle(batches)
    return batches
