"""Examples to batches: like lengths together, variants of one idea together, in a seeded order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from detectors.text import normalise
from detectors.training.example import Example
from detectors.training.network import REACH, Turns
from detectors.training.states import MOST_OF_A_REPLY, MOST_TOKENS, LowerStates
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

    def row(self, role: Role, text: str) -> int:
        return self._rows[role is Role.USER, text]


class _Load:
    """What a batch costs in tokens, padding included: each text once, a reply a third of a user's turn (no gradient)."""

    def __init__(self, table: TextTable, lengths: Lengths) -> None:
        self._table = table
        self._lengths = lengths
        self._rows: tuple[set[int], set[int]] = (set(), set())

    def _after(self, example: Example) -> tuple[set[int], set[int]]:
        asked, said = set(self._rows[0]), set(self._rows[1])
        for one in example.turns[-REACH - 1 :]:
            (asked if one.role is Role.USER else said).add(self._table.row(one.role, one.text))
        return asked, said

    def add(self, example: Example) -> None:
        self._rows = self._after(example)

    def with_(self, example: Example) -> float:
        asked, said = self._after(example)
        return self._padded(asked) + self._padded(said) / 3

    def _padded(self, rows: set[int]) -> int:
        return len(rows) * max((int(self._lengths[row]) for row in rows), default=0)


def plan(examples: Sequence[Example], table: TextTable, lengths: Lengths, seed: int) -> list[list[int]]:
    """Indices of examples, a list a batch. Each epoch asks with another seed."""
    source = random.Random(seed)  # noqa: S311 - an order, no secret
    families: dict[str, list[int]] = {}
    for i, example in enumerate(examples):
        families.setdefault(example.group, []).append(i)

    def size(i: int) -> int:
        return max(int(lengths[table.row(s.role, s.text)]) for s in examples[i].turns[-REACH - 1 :])

    shuffled = list(families.values())
    source.shuffle(shuffled)
    # families of like length, with some noise so that batches differ between epochs
    keyed = sorted(
        shuffled,
        key=lambda f: (
            any(not examples[i].single for i in f),
            sum(map(size, f)) / len(f) * source.uniform(0.85, 1.15),
        ),
    )
    batches: list[list[int]] = []
    held: list[int] = []
    load = _Load(table, lengths)
    for i in (i for family in keyed for i in family):
        if held and load.with_(examples[i]) > TOKENS:
            batches.append(held)
            held, load = [], _Load(table, lengths)
        held.append(i)
        load.add(examples[i])
    if held:
        batches.append(held)
    source.shuffle(batches)
    return batches


def collate(examples: Sequence[Example], table: TextTable, states: LowerStates) -> Turns:
    """The texts of some examples, each once, and which of them belong to which conversation."""
    asked: dict[int, int] = {}
    said: dict[int, int] = {}
    for example in examples:
        for one in example.turns[-REACH - 1 :]:
            side = asked if one.role is Role.USER else said
            side.setdefault(table.row(one.role, one.text), len(side))

    def place(role: Role, text: str) -> int:
        row = table.row(role, text)
        return asked[row] if role is Role.USER else len(asked) + said[row]

    current, before, roles = [], [], []
    for example in examples:
        *earlier, now = example.turns[-REACH - 1 :]
        current.append(place(now.role, now.text))
        gap = REACH - len(earlier)
        before.append([-1] * gap + [place(s.role, s.text) for s in earlier])
        roles.append([0] * gap + [int(s.role is not Role.USER) for s in earlier])
    return Turns(
        *states.batch(list(asked)),
        *states.batch(list(said)),
        torch.tensor(current),
        torch.tensor(before),
        torch.tensor(roles),
    )
